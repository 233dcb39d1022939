"""The same plan in the image vllm/vllm-openai, as a command to be pasted. labtui prints it and does not run it.

A container is stopped by its engine and not by signals to a process of ours, so nothing of the supervisor's proof of
what is ours holds for it: it is used by attaching to its address.
"""

from __future__ import annotations

import shlex

from labtui.errors import USAGE, LabError
from labtui.serving import hub_cache
from labtui.serving.launch_settings import ASSUMED_VLLM
from labtui.serving.plan import Plan

IMAGE = "vllm/vllm-openai"
NAME = "labtui-vllm"
CACHE_INSIDE = "/root/.cache/huggingface"
MODEL_INSIDE, SAMPLER_INSIDE = "/model", "/sampler"
KEY_VARIABLE = "VLLM_API_KEY"
OF_THIS_MACHINE = ("PYTHONPATH", "VLLM_USE_FLASHINFER_SAMPLER")


def docker_command(plan: Plan) -> list[str]:
    """Raises LabError (exit 2) for a plan that this image cannot run. The API key is passed by its name only."""
    if plan.checkpoint.cpu:
        raise LabError(
            f"{plan.checkpoint.id} does not run in that image",
            f"{IMAGE} is built for NVIDIA GPUs, and vLLM for the CPU needs labtui's kernels.",
            "Start it without Docker: labtui serve start --checkpoint practice",
            USAGE,
        )
    if plan.parallel.ray:
        raise LabError(
            "A Ray cluster in containers is not planned by labtui",
            "Each machine needs a container of its own that has joined the cluster first.",
            "See vLLM's examples/online_serving/run_cluster.sh, then use labtui serve attach URL.",
            USAGE,
        )
    command = ["docker", "run", "--rm", "--name", NAME, "--gpus", _gpus(plan)]
    # GPUs that work together talk through shared memory, of which a container has 64 MiB.
    command += ["--ipc=host"]
    command += ["-p", f"{plan.host}:{plan.port}:8000"]
    command += ["-v", f"{hub_cache.hub_cache_folder().parent}:{CACHE_INSIDE}"]
    if plan.checkpoint.folder is not None:
        command += ["-v", f"{plan.checkpoint.folder.resolve()}:{MODEL_INSIDE}:ro"]
    if plan.sampler is not None and plan.sampler.folder is not None:
        command += ["-v", f"{plan.sampler.folder}:{SAMPLER_INSIDE}:ro"]
    command += ["-e", KEY_VARIABLE, "-e", "HF_TOKEN"]
    for name, value in sorted(plan.env.items()):
        if name not in OF_THIS_MACHINE:
            command += ["-e", f"{name}={value}"]
    command.append(f"{IMAGE}:v{image_version(plan)}")
    command.append(MODEL_INSIDE if plan.checkpoint.folder is not None else plan.checkpoint.model)
    if plan.checkpoint.folder is not None and "--served-model-name" not in plan.argv:
        command += ["--served-model-name", plan.served_name]
    for flag in plan.flags:
        if flag.name == "--generation-config":
            command += [flag.name, SAMPLER_INSIDE]
        elif flag.name not in ("--host", "--port"):
            command += flag.argv
    for own in plan.own_flags:
        command += own.typed
    return command


def image_version(plan: Plan) -> str:
    """That of the installed vLLM for GPUs, so that figures can be compared; else the one that plans are made for."""
    installed = plan.vllm_version
    return installed.partition("+")[0] if installed is not None and not plan.on_cpu_build else ASSUMED_VLLM


def docker_text(plan: Plan) -> str:
    """What to paste, line by line: a key of its own, the container, and how labtui uses it."""
    words = shlex.join(docker_command(plan))
    return "\n".join(
        [
            f"export {KEY_VARIABLE}=$(openssl rand -hex 24)",
            words,
            f"# in another terminal, with the same {KEY_VARIABLE}:",
            f"LABTUI_API_KEY=${KEY_VARIABLE} labtui serve attach {plan.url}",
            f"# to end it: docker stop {NAME}",
        ]
    )


def _gpus(plan: Plan) -> str:
    return str(plan.gpus) if plan.gpus > 1 else '"device=0"'
