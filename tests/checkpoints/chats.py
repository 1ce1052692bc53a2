#!/usr/bin/python3
"""Writes chats.json: the texts that the library makes of conversations with a template, and their tokens."""

import json
import pathlib

from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

HERE = pathlib.Path(__file__).parent

# The constructs that published templates use.
MARKED = """{%- if messages[0].role == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0].content + '<|im_end|>\\n' }}
    {%- set rest = messages[1:] %}
{%- else %}
    {{- '<|im_start|>system\\nBe kind.<|im_end|>\\n' }}
    {%- set rest = messages %}
{%- endif %}
{%- for message in rest %}
    {{- '<|im_start|>' + message['role'] + '\\n' + message['content'] | trim + '<|im_end|>' + '\\n' }}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\\n\\n' }}
    {%- endif %}
{%- endif %}"""
IN_TURN = """{{ bos_token }}{% set ns = namespace(last='none') %}{% for message in messages %}
{%- if message.role not in ['user', 'assistant'] or message.role == ns.last %}
{{- raise_exception('Roles must alternate: ' ~ message.role) }}{% endif %}
{%- set ns.last = message.role %}
{%- if loop.first %}first: {% endif %}{{ message.content.strip() }}
{%- if message.role == 'assistant' %}{{ eos_token }}{% endif %}
{% endfor %}
{%- if add_generation_prompt %} now:{% endif %}"""
# Rarer ones: macros, filters, tests, methods, loops with conditions, JSON.
RARE = """{%- macro turn(role, text, number=0) %}
{{- '[' ~ role | upper ~ ' ' ~ number ~ '] ' ~ text }}
{% endmacro %}
{%- set ns = namespace(count=0, names=[]) %}
{%- set intro %}Today is {{ date | default('any day') }}.{% endset %}
{{- intro ~ '\n' }}
{%- if tools is not none %}
    {{- tools | tojson ~ '\n' }}
    {%- for tool in tools %}{{ loop.index ~ '/' ~ loop.length ~ ' ' ~ tool.name }}
        {%- for key, value in tool.parameters.items() %} {{ key }}={{ value }}{% endfor %}{{ '\n' }}
    {%- endfor %}
{%- endif %}
{%- for message in messages if message['role'] != 'system' %}
    {%- set ns.count = ns.count + 1 %}
    {%- if loop.previtem is defined and loop.previtem.role == message.role %}{{ 'again: ' }}{% endif %}
    {%- set text = message.content if message.content is string else message.content[0].text %}
    {%- if '</think>' in text %}
        {%- set text = text.split('</think>')[-1].lstrip('\n') %}
    {%- elif text.startswith(' ') and (text | length) > 3 %}
        {%- set text = text | trim | replace('film', 'FILM') %}
    {%- endif %}
    {{- turn(message.role, text, number=ns.count) }}
    {%- if loop.last and loop.index0 % 2 == 0 %}{{ 'odd\n' }}{% endif %}
{%- endfor %}
{{- (messages | first).role ~ ': ' }}{{- messages | map(attribute='role') | join(', ') }} {{ messages | selectattr('role', 'equalto', 'user') | list | length }}
{%- for message in messages[::-1] %}{% if message.role != 'user' %}{% continue %}{% endif %} said: {{ message.content[:5] }}{% endfor %}
{%- if add_generation_prompt %}{{ '\n[ASSISTANT] ' }}{% else %}{{ eos_token }}{% endif -%}
"""
TOOLS = [{"name": "weather", "parameters": {"city": "Zürich", "days": 3}}, {"name": "time", "parameters": {}}]
USER, ANSWER = {"role": "user", "content": " The film is \n"}, {"role": "assistant", "content": "good 😐 é"}
THOUGHT = {"role": "assistant", "content": "<think>\n\"So?\"\n</think>\n\ngood"}
SYSTEM = {"role": "system", "content": "It's a film."}
CASES = [
    ("qwen2", MARKED, [USER], {}),
    ("qwen2", MARKED, [SYSTEM, USER, ANSWER, USER], {}),
    ("qwen2", MARKED, [USER], {"enable_thinking": False}),
    ("qwen2", MARKED, [USER, ANSWER], {"add_generation_prompt": False}),
    ("llama_scaled", IN_TURN, [USER], {}),
    ("llama_scaled", IN_TURN, [USER, ANSWER, USER], {"add_generation_prompt": False}),
    ("llama_scaled", IN_TURN, [USER, USER], {}),
    ("llama_scaled", RARE, [USER], {}),
    ("llama_scaled", RARE, [SYSTEM, USER, THOUGHT, USER], {"tools": TOOLS, "date": "26 Jul 2024"}),
    ("llama_scaled", RARE, [SYSTEM, USER, ANSWER], {"add_generation_prompt": False}),
]


def main():
    cases = []
    for folder, template, messages, options in CASES:
        settings = json.loads((HERE / folder / "tokenizer_config.json").read_text())
        tokenizer = PreTrainedTokenizerFast(
            tokenizer_object=Tokenizer.from_file(str(HERE / folder / "tokenizer.json")),
            bos_token=settings.get("bos_token"), eos_token=settings["eos_token"])
        case = {"folder": folder, "template": template, "messages": messages, "options": options}
        try:
            text = tokenizer.apply_chat_template(
                messages, chat_template=template, tokenize=False, **({"add_generation_prompt": True} | options))
            ids = tokenizer(text, add_special_tokens=False)["input_ids"]
            cases.append(case | {"text": text, "ids": ids})
        except Exception as error:  # raised by the template
            cases.append(case | {"error": str(error)})
    lines = ",\n".join(json.dumps(case, ensure_ascii=False) for case in cases)
    (HERE / "chats.json").write_text(f"[\n{lines}\n]\n")


if __name__ == "__main__":
    main()
