"""A study's report as one HTML page: `study` reads it, `images` draws, `table` has the points, `sections` the rest, `look` style and script."""
