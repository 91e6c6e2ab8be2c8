"""The page: a person's way to one workspace's questions, notes, grants and journal, by browser.

Why it is a room of its own: whatever a browser can be made to send reaches it, from any site that
its person visits. So who may come in (``door``), what a request must look like (``fence``) and what
is told (``desk``) are three things, each to be read by itself; ``app`` puts them together.

What may enter: a workspace. What leaves is redacted JSON and the page's own files, which are as
they lie in ``page/``: no template, so that nothing that a guest wrote can become HTML.
"""
