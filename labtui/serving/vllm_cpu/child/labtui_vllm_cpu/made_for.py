"""The versions that these workarounds were written against and tried with."""

VLLM = "0.32.0"
TORCH = "2.13"


def is_known_vllm(version: str) -> bool:
    """A build of that very release: 0.32.0 or 0.32.0+cpu. Kernel names and signatures change between releases."""
    return version.split("+")[0] == VLLM


def is_known_torch(version: str) -> bool:
    return version.startswith(TORCH + ".")
