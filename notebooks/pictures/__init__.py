"""Pictures of stepcast's reports: `report` reads one, `choice` says what to draw, and one module draws each kind."""
