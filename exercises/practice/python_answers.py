"""The Python functions that the practice checkpoint knows: what each does, in several wordings, and its code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Function:
    """deeds: verb phrases that complete "Write a Python function that ..."; the first is the plain one."""

    name: str
    deeds: tuple[str, ...]
    code: str

    @property
    def answer(self) -> str:
        return f"```python\n{self.code}\n```"


FUNCTIONS: tuple[Function, ...] = (
    Function(
        "add",
        ("adds two numbers", "returns the sum of two numbers", "sums two numbers"),
        "def add(a, b):\n    return a + b",
    ),
    Function(
        "subtract",
        ("subtracts two numbers", "returns the difference of two numbers"),
        "def subtract(a, b):\n    return a - b",
    ),
    Function(
        "multiply",
        ("multiplies two numbers", "returns the product of two numbers"),
        "def multiply(a, b):\n    return a * b",
    ),
    Function(
        "reverse",
        ("reverses a string", "returns a string backwards", "turns a string around"),
        "def reverse(text):\n    return text[::-1]",
    ),
    Function(
        "is_palindrome",
        ("checks whether a string is a palindrome", "checks for a palindrome", "tests if a word is a palindrome"),
        "def is_palindrome(text):\n"
        "    letters = [c.lower() for c in text if c.isalnum()]\n"
        "    return letters == letters[::-1]",
    ),
    Function(
        "factorial",
        ("computes the factorial", "returns the factorial of a number", "calculates n factorial"),
        "def factorial(n):\n    result = 1\n    for k in range(2, n + 1):\n        result *= k\n    return result",
    ),
    Function(
        "fibonacci",
        ("computes the nth Fibonacci number", "returns a Fibonacci number", "calculates Fibonacci numbers"),
        "def fibonacci(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a",
    ),
    Function(
        "largest",
        ("finds the largest number in a list", "returns the maximum of a list", "finds the biggest item of a list"),
        "def largest(numbers):\n"
        "    best = numbers[0]\n"
        "    for number in numbers[1:]:\n"
        "        if number > best:\n"
        "            best = number\n"
        "    return best",
    ),
    Function(
        "is_prime",
        ("checks whether a number is prime", "tests if a number is prime", "checks for primes"),
        "def is_prime(n):\n"
        "    if n < 2:\n"
        "        return False\n"
        "    for d in range(2, int(n ** 0.5) + 1):\n"
        "        if n % d == 0:\n"
        "            return False\n"
        "    return True",
    ),
    Function(
        "bubble_sort",
        ("sorts a list with bubble sort", "does a bubble sort", "implements bubble sort"),
        "def bubble_sort(items):\n"
        "    items = list(items)\n"
        "    for end in range(len(items) - 1, 0, -1):\n"
        "        for i in range(end):\n"
        "            if items[i] > items[i + 1]:\n"
        "                items[i], items[i + 1] = items[i + 1], items[i]\n"
        "    return items",
    ),
    Function(
        "count_words",
        ("counts the words of a text", "counts how often each word occurs", "counts word frequencies"),
        "def count_words(text):\n"
        "    counts = {}\n"
        "    for word in text.lower().split():\n"
        "        counts[word] = counts.get(word, 0) + 1\n"
        "    return counts",
    ),
    Function(
        "gcd",
        ("computes the greatest common divisor", "returns the gcd of two numbers", "finds the largest common divisor"),
        "def gcd(a, b):\n    while b:\n        a, b = b, a % b\n    return a",
    ),
    Function(
        "flatten",
        ("flattens a nested list", "flattens lists inside lists", "turns a nested list into a flat one"),
        "def flatten(items):\n"
        "    flat = []\n"
        "    for item in items:\n"
        "        if isinstance(item, list):\n"
        "            flat.extend(flatten(item))\n"
        "        else:\n"
        "            flat.append(item)\n"
        "    return flat",
    ),
    Function(
        "count_vowels",
        ("counts the vowels in a string", "returns the number of vowels", "counts vowels"),
        'def count_vowels(text):\n    return sum(1 for c in text.lower() if c in "aeiou")',
    ),
    Function(
        "fizzbuzz",
        ("plays FizzBuzz", "returns Fizz or Buzz for a number", "implements FizzBuzz"),
        "def fizzbuzz(n):\n"
        "    if n % 15 == 0:\n"
        '        return "FizzBuzz"\n'
        "    if n % 3 == 0:\n"
        '        return "Fizz"\n'
        "    if n % 5 == 0:\n"
        '        return "Buzz"\n'
        "    return str(n)",
    ),
    Function(
        "binary_search",
        ("searches a sorted list by halves", "does a binary search", "implements binary search"),
        "def binary_search(items, wanted):\n"
        "    low, high = 0, len(items) - 1\n"
        "    while low <= high:\n"
        "        middle = (low + high) // 2\n"
        "        if items[middle] == wanted:\n"
        "            return middle\n"
        "        if items[middle] < wanted:\n"
        "            low = middle + 1\n"
        "        else:\n"
        "            high = middle - 1\n"
        "    return -1",
    ),
)
