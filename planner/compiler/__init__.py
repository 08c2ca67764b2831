"""From a template and a sharing plan to the kernel plan."""
