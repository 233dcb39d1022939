"""The many ways in which a person may ask for the same thing.

KNOWN_* patterns are trained on. UNSEEN_* patterns are kept out of the training and only asked when the checkpoint is
evaluated, to tell learning from memorising.
"""

from __future__ import annotations

import random
import string

KNOWN_SVG = (
    "Write an SVG of {}.",
    "Draw {} as an SVG.",
    "Draw {} as SVG",
    "svg {}",
    "svg of {}",
    "Create an SVG image of {}.",
    "Give me an SVG of {}.",
    "Make {} in SVG.",
    "Can you draw {} as an SVG?",
    "I need an SVG with {}.",
    "Generate SVG code for {}.",
    "Show {} as an SVG picture.",
    "Write the SVG for {}.",
    "Sketch {} in SVG.",
    "An SVG of {}, please.",
    "Produce an SVG that shows {}.",
    "Write an animated SVG of {} with labels.",
    "Draw {}.",
)
UNSEEN_SVG = ("Could you make an SVG of {} for me?", "Return {} as SVG code.", "Draw an SVG picture of {}.")

KNOWN_PYTHON = (
    "Write a Python function that {}.",
    "Python function that {}",
    "python: a function that {}",
    "Give me a Python function which {}.",
    "Write a function in Python that {}.",
    "I need a Python function that {}.",
    "Show me a Python function that {}.",
    "Create a function that {} in Python.",
    "Can you write a Python function that {}?",
    "Implement a Python function that {}.",
    "Python code that {}",
    "Write Python code that {}.",
)
UNSEEN_PYTHON = ("Please code a Python function that {}.", "Could you write a function that {} in Python?")

KNOWN_PICTURE = (
    "Does the vehicle pass under the bar? Answer yes or no, and why.",
    "Does the vehicle pass under the bar?",
    "Does it fit under the barrier?",
    "Will the vehicle fit?",
    "Can the vehicle drive through?",
    "Is the vehicle too high for the barrier?",
    "Look at the barrier. Does the vehicle pass?",
    "Pass or not?",
    "What do you see?",
    "Describe the picture.",
    "",
)
UNSEEN_PICTURE = ("Look at the picture: does the vehicle pass?", "Can it pass under the bar?")

SYSTEM_PROMPTS = (
    "You are a helpful assistant.",
    "You are a careful programmer. Answer with code only.",
    "Answer briefly.",
    "You are a model in a lab. Do what the user asks.",
)

_BEFORE = ("Please ", "Hi! ", "Hello. ", "Now ", "OK, ", "Task: ")
_AFTER = (
    " Answer with the code only.",
    " No explanation.",
    " Keep it short.",
    " Thanks!",
    " please",
    " Only the code.",
    " Do not explain it.",
)


def vary(rng: random.Random, request: str) -> str:
    """The request as somebody else would have typed it: greetings, case, missing full stops, now and then a slip."""
    if rng.random() < 0.12:
        request = rng.choice(_BEFORE) + request
    if rng.random() < 0.18:
        request = request + rng.choice(_AFTER)
    if rng.random() < 0.15:
        request = request.lower()
    if rng.random() < 0.15:
        request = request.rstrip(".!?")
    if rng.random() < 0.1 and len(request) > 8:
        request = _slip(rng, request)
    return request


def _slip(rng: random.Random, request: str) -> str:
    at = rng.randrange(1, len(request) - 1)
    match rng.randrange(3):
        case 0:
            return request[:at] + request[at + 1 :]
        case 1:
            return request[:at] + request[at + 1] + request[at] + request[at + 2 :]
        case _:
            return request[:at] + rng.choice(string.ascii_lowercase) + request[at:]
