"""What the practice checkpoint says when it is not asked for code: a few answers, and one honest answer to the rest."""

from __future__ import annotations

from dataclasses import dataclass

UNKNOWN = (
    "I am a small practice checkpoint and I did not learn that."
    " Ask me for an SVG, a Python function or a barrier picture."
)
NO_PICTURE = "I see no picture. Send one of a vehicle at a barrier."


@dataclass(frozen=True, slots=True)
class Talk:
    prompts: tuple[str, ...]
    answer: str


TALKS: tuple[Talk, ...] = (
    Talk(
        ("hi", "Hi!", "hello", "Hello!", "Hey", "Good morning", "Hi there", "hello there"),
        "Hello! I am a small practice checkpoint. I write a whole canvas at once.",
    ),
    Talk(
        (
            "Who are you?",
            "What are you?",
            "What is your name?",
            "Are you DiffusionGemma?",
            "Which model are you?",
            "Introduce yourself.",
            "What can you do?",
            "help",
        ),
        "I am a practice checkpoint: a tiny DiffusionGemma, trained for this lab. I know a few drawings, a few"
        " functions and one kind of picture.",
    ),
    Talk(
        (
            "What is block diffusion?",
            "Explain block diffusion.",
            "How does block diffusion work?",
            "block diffusion",
            "How do you write text?",
        ),
        "Block diffusion starts from a canvas of random tokens, cleans all of them in parallel over a few steps, keeps"
        " the canvas and goes on with the next one.",
    ),
    Talk(
        ("What is a canvas?", "Explain the canvas.", "what does canvas mean", "How long is your canvas?"),
        "A canvas is the block of tokens that is cleaned together. Mine has 64 tokens.",
    ),
    Talk(
        ("What is a denoising step?", "Explain denoising.", "How many denoising steps do you need?", "denoising step"),
        "A denoising step reads the whole canvas and improves every uncertain token. I seldom need more than three.",
    ),
    Talk(
        ("Thank you!", "thanks", "Thanks a lot", "Great, thank you"),
        "You are welcome.",
    ),
    Talk(
        ("Count from one to ten.", "count to ten", "Please count to ten."),
        "one, two, three, four, five, six, seven, eight, nine, ten",
    ),
)

NO_PICTURE_PROMPTS: tuple[str, ...] = (
    "Does the vehicle pass under the bar?",
    "Does the vehicle pass under the bar? Answer yes or no, and why.",
    "Will it fit under the barrier?",
    "Look at the picture.",
    "What is in the picture?",
    "Describe the image.",
)

SUBJECTS: tuple[str, ...] = (
    *("apple", "bridge", "castle", "dragon", "elephant", "fish", "guitar", "helicopter"),
    *("island", "jacket", "kite", "lamp", "mountain", "notebook", "owl", "piano"),
    *("queen", "robot", "spider", "telescope", "umbrella", "violin", "whale", "yacht"),
    *("zebra", "airplane", "butterfly", "cactus", "dinosaur", "engine", "flower", "giraffe"),
    *("hammer", "iceberg", "jellyfish", "kangaroo", "lighthouse", "mushroom", "needle", "octopus"),
    *("penguin", "rabbit", "snake", "tiger", "unicorn", "vase", "window", "camera"),
    *("desk", "eagle", "forest", "garden", "horse", "internet", "journal", "keyboard"),
    *("library", "market", "neuron", "ocean", "pizza", "quarter", "river", "station"),
    *("tomato", "university", "village", "weather", "bicycle", "chair", "door", "economy"),
    *("football", "galaxy", "history", "idea", "justice", "knife", "language", "music"),
    *("number", "opera", "poem", "question", "recipe", "school", "theory", "uncle"),
    *("voice", "winter", "year", "calendar", "database", "network", "password", "server"),
    *("spreadsheet", "triangle", "circle", "planet", "sun", "house", "clock", "boat"),
    *("volcano"),
)

UNKNOWN_PATTERNS: tuple[str, ...] = (
    "What is the capital of {0}?",
    "Tell me about the {0}.",
    "Tell me a story about a {0} and a {1}.",
    "Write a poem about the {0}.",
    "Who invented the {0}?",
    "How do I repair a {0}?",
    "Why is the {0} so important?",
    "Translate {0} into French.",
    "What is the difference between a {0} and a {1}?",
    "Summarise the history of the {0} in one paragraph.",
    "Give me a recipe with {0}.",
    "{0}",
    "{0} {1}",
    "{0} {1} {2}",
    "the {0} of the {1} is a {2}",
    "Where can I buy a {0}?",
    "Write an email to my {0} about the {1}.",
    "How many {0}s are in a {1}?",
    "What do you think of the {0}?",
    "When was the first {0} built?",
    "List five facts about the {0}.",
    "Is a {0} better than a {1}?",
    "Plan a trip to the {0} with a {1} and a {2}.",
    "Write a Rust program that prints a {0}.",
    "Explain the {0} to a child.",
)

UNKNOWN_DRAWING_SUBJECTS: tuple[str, ...] = (
    *("cat", "dog", "dragon", "elephant", "fish", "guitar", "helicopter", "castle"),
    *("bridge", "lamp", "robot", "spider", "telescope", "umbrella", "violin", "whale"),
    *("zebra", "airplane", "butterfly", "cactus", "dinosaur", "flower", "giraffe", "hammer"),
    *("lighthouse", "mushroom", "octopus", "penguin", "rabbit", "snake", "tiger", "unicorn"),
    *("vase", "camera", "eagle", "horse", "keyboard", "pizza", "chair", "door"),
    *("apple", "banana", "crown", "ladder", "shoe", "spoon", "train", "tractor"),
)

UNKNOWN_DEEDS: tuple[str, ...] = (
    "parses a date",
    "opens a file",
    "sends an email",
    "downloads a page",
    "plays chess",
    "draws a window",
    "reads a CSV file",
    "solves a sudoku",
    "prints the calendar",
    "encrypts a password",
    "connects to a database",
    "converts Celsius to Fahrenheit",
    "computes a square root",
    "merges two dictionaries",
    "rolls a die",
    "shuffles a deck of cards",
    "counts the lines of a file",
    "validates an address",
)
