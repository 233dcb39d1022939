"""The folder on the server's PYTHONPATH. Only in there is `labtui_vllm_cpu` a top-level package."""
