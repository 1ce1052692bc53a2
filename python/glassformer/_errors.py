class Error(Exception):
    """The input, an option or a file is not valid.

    Attributes
    ----------
    code : str
        The reason: "invalid_option", "empty_input", "too_large", "missing_file", "wrong_task",
        "unsupported" and the others of the command line and JavaScript; "disposed" for a model that
        was closed.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)
        self.code = code

    def __str__(self) -> str:
        return self.args[1]
