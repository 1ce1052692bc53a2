"""Code that the trainings share."""
