"""Pure geometry: rays, boxes and triangles, with no tree in sight."""
