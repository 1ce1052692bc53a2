class Error(Exception):
    """The input, an option or a file is not valid.

    Attributes
    ----------
    code : str
        The reason: "invalid_option", "empty_input", "too_large", "missing_file", "wrong_task",
        "unsupported" and the others of the command line and JavaScript; "disposed" for a model that
        was closed.
    field : str
        The wrong option, such as "top_p", or "" for an error of another kind.
    """

    def __init__(self, code: str, message: str, field: str = "") -> None:
        super().__init__(code, message, field)
        self.code, self.field = code, field

    def __str__(self) -> str:
        return self.args[1]
