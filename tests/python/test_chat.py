"""Conversations: the texts of chat templates and their tokens, compared with those of the original
library (tests/fixtures/checkpoints/chats.json), and turns."""

import json
import shutil
import tempfile
import unittest
from pathlib import Path

import glassformer
from glassformer import Chat, Error, chat_prompt
from tests.python.helpers import checkpoints, read_json, writer

cases = read_json(checkpoints / "chats.json")


class WithTemplates(unittest.TestCase):
    def open(self, name, template):
        """Returns the model of a checkpoint with a template."""
        folder = Path(self.enterContext(tempfile.TemporaryDirectory())) / name
        shutil.copytree(checkpoints / name, folder)
        file = folder / "tokenizer_config.json"
        config = read_json(file) | {"chat_template": template}
        file.write_text(json.dumps(config))
        return self.enterContext(glassformer.load(folder))

    def open_chatty(self):
        return self.open("llama_scaled", cases[4]["template"])

    def assert_error(self, code, pattern, call, *given, **options):
        with self.assertRaisesRegex(Error, pattern) as raised:
            call(*given, **options)
        self.assertEqual(raised.exception.code, code)


class Prompts(WithTemplates):
    def test_the_library_texts_and_tokens(self):
        self.assertGreaterEqual(len(cases), 10)
        for index, case in enumerate(cases):
            with self.subTest(index):
                generator = self.open(case["folder"], case["template"])
                self.assertEqual(generator.info.chat_template, case["template"])
                options = dict(case["options"])
                shows = options.pop("add_generation_prompt", True)
                given = {"add_generation_prompt": shows, "variables": options}
                if "error" in case:
                    wrong = (generator, case["messages"])
                    self.assert_error("invalid_option", case["error"], chat_prompt, *wrong, **given)
                    continue
                text = chat_prompt(generator, case["messages"], **given)
                self.assertEqual(text, case["text"])
                found = generator.next(text, count=1, special_tokens=False).prompt_tokens
                ids = case["ids"][-generator.info.max_source_length :]
                self.assertEqual([token.id for token in found], ids)

    def test_wrong_messages(self):
        generator = self.open_chatty()
        self.assert_error("invalid_option", "at least one", chat_prompt, generator, [])
        good = {"role": "user", "content": "a"}
        for messages in (None, ["a"], [{"content": "a"}], [{**good, "role": 3}]):
            self.assertRaises(TypeError, chat_prompt, generator, messages)
        self.assertRaises(TypeError, chat_prompt, generator, [good], variables={"a": object()})
        self.assertRaises(TypeError, chat_prompt, None, [good])
        surrogate = [{**good, "content": "\ud83d"}]
        self.assert_error("invalid_option", "messages", chat_prompt, generator, surrogate)
        for wrong in (float("nan"), 2**64):
            given = {"variables": {"a": wrong}}
            self.assert_error("invalid_option", "variables", chat_prompt, generator, [good], **given)
        self.assertRaises(TypeError, Chat(generator).send, 3)
        broken = self.open("qwen2", "{% if %}")
        self.assert_error("unsupported", "chat_template", Chat, broken)
        with glassformer.load(writer) as plain:
            self.assert_error("unsupported", "chat_template", chat_prompt, plain, [good])
            self.assert_error("unsupported", "chat_template", Chat, plain)
        self.assertRaises(TypeError, Chat, generator, system=3)


class Chats(WithTemplates):
    def test_a_turn_adds_two_messages_and_reads_what_is_new(self):
        generator = self.open_chatty()
        chat = Chat(generator)
        first = chat.send("The film", max_new_tokens=3, attention=True)
        said = {"role": "user", "content": "The film"}
        self.assertEqual(chat.messages, [said, {"role": "assistant", "content": first.text}])
        self.assertGreater(first.attention["decoder"].shape[2], 0)
        prompt = chat_prompt(generator, [*chat.messages, {"role": "user", "content": "good"}])
        expected = generator.generate(prompt, max_new_tokens=3, special_tokens=False)
        stream = chat.stream("good", max_new_tokens=3)
        steps = list(stream)
        self.assertEqual([step.token for step in steps], expected.tokens)
        self.assertEqual(stream.result.text, expected.text)
        self.assertEqual(chat.messages[3], {"role": "assistant", "content": expected.text})
        # The first turn had its attention kept, which the second did not ask for.
        third = chat.send("more", max_new_tokens=3)
        self.assertEqual(stream.result.reused, 0)
        self.assertGreater(third.reused, len(expected.prompt_tokens) / 2)
        self.assertEqual(repr(chat), "<Chat: 6 messages>")

    def test_a_turn_that_fails_or_is_left_changes_nothing(self):
        chat = Chat(self.open_chatty())
        self.assert_error("invalid_option", "special_token", chat.send, "a", special_token=True)
        self.assertRaises(TypeError, chat.send, "a", special_tokens=True)
        self.assertRaises(TypeError, chat.stream, "a", keep=False)
        self.assertRaises(TypeError, chat.send, 7)
        left = chat.stream("The film", max_new_tokens=4)
        next(left)
        self.assertEqual(chat.messages, [])
        chat.send("A film", max_new_tokens=1)
        with self.assertRaisesRegex(RuntimeError, "another turn"):
            list(left)
        self.assertEqual([each["content"] for each in chat.messages][0], "A film")
        self.assertEqual(len(chat.messages), 2)
        closed = chat.stream("More", max_new_tokens=4)
        next(closed)
        closed.close()
        self.assertEqual((list(closed), closed.result, len(chat.messages)), ([], None, 2))

    def test_instructions_and_variables(self):
        qwen = next(case for case in cases if case["folder"] == "qwen2")
        generator = self.open("qwen2", qwen["template"])
        chat = Chat(generator, system="Be brief.", variables={"enable_thinking": False})
        result = chat.send("a", max_new_tokens=1)
        self.assertEqual(chat.messages[0], {"role": "system", "content": "Be brief."})
        text = chat_prompt(generator, chat.messages[:2], variables={"enable_thinking": False})
        self.assertIn("<think>", text)
        found = generator.next(text, count=1, special_tokens=False).prompt_tokens
        self.assertEqual(result.prompt_tokens, found)
        strict = Chat(self.open_chatty(), system="a")
        self.assert_error("invalid_option", "Roles must alternate", strict.send, "b")

    def test_a_closed_model(self):
        generator = self.open_chatty()
        chat = Chat(generator)
        generator.close()
        self.assert_error("disposed", "closed", chat.send, "a")
        self.assert_error("disposed", "closed", Chat, generator)
        self.assertEqual(chat.messages, [])


if __name__ == "__main__":
    unittest.main()
