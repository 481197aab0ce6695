"""All that needs Pillow, pyvips and numpy: pictures to start from, and how alike two are. It runs in the virtual environment."""
