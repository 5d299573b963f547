# SPDX-License-Identifier: Apache-2.0
"""Configurations of a web application, measured one after the other and compared.

In reading order: matrix (the file), images, engine (Docker), row (one configuration from start to
end), requests (what JMeter measured), graphs (differences), packages (where the time goes), page
(the index), run (all of it).
"""


class Failed(Exception):
    """Something cannot go on; its text says what, on what, why and what to do."""
