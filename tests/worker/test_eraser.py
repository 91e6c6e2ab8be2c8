"""Types become blanks of the same length; what cannot be erased is refused with its place."""

import hypothesis
import hypothesis.strategies as st
import pytest

tree_sitter = pytest.importorskip("tree_sitter", reason="the extra ts is not installed")
grammar = pytest.importorskip("tree_sitter_typescript", reason="the extra ts is not installed")

from nocturn.worker.eraser import erase  # noqa: E402 - behind the check that it can be
from nocturn.worker.sheet import NotErasableError  # noqa: E402

PARSER = tree_sitter.Parser(tree_sitter.Language(grammar.language_typescript()))

# A blank is shown as ~ where it stands for a type, so that the rows can be read.
ROWS = [
    ("let x: number = 1", "let x~~~~~~~~ = 1"),
    ("let x!: T, y: U", "let x~~~~, y~~~"),
    ("f(a!, b as C, d satisfies E)", "f(a~, b~~~~~, d~~~~~~~~~~~~)"),
    ("a!.b![0]!()", "a~.b~[0]~()"),
    ("x as const", "x~~~~~~~~~"),
    ("x as any as T[]", "x~~~~~~~~~~~~~~"),
    ("x /* why */ as /* so */ T", "x /* why */ ~~~~~~~~~~~~~"),
    ("x as A.B.C.D<E.F.G>[] | H", "x~~~~~~~~~~~~~~~~~~~~~~~~"),
    ("(x as A.B.C).d", "(x~~~~~~~~~).d"),
    ("f<A, B>(c); new M<K, V<W>>(); let g = h<T>", "f~~~~~~(c); new M~~~~~~~~~(); let g = h~~~"),
    ("let f = <T,>(x: T): T => x", "let f = ~~~~(x~~~)~~~ => x"),
    ("let s = '😀' as '😀😀', y", "let s = '😀'~~~~~~~~~~, y"),
    ("let t = `a${b as C}d`", "let t = `a${b~~~~~}d`"),
    ("function f(this: T, a?: U, ...b: V[]) {}", "function f(~~~~~~~~ a~~~~, ...b~~~~~) {}"),
    ("function f(x: any): asserts x is T {}", "function f(x~~~~~)~~~~~~~~~~~~~~~~ {}"),
    ("try {} catch (e: unknown) {}", "try {} catch (e~~~~~~~~~) {}"),
    ("for (const x of y as T[]) {}", "for (const x of y~~~~~~~) {}"),
    ("let {a, b}: T = c", "let {a, b}~~~ = c"),
    ("let a = <T>b", "let a = ~~~b"),
    ("if (a < b && c > (d)) {}", "if (a < b && c > (d)) {}"),
    ("interface I { a: b }", "~~~~~~~~~~~~~~~~~~~~"),
    ("export type A = 1; export default interface I {}", "~" * 18 + " " + "~" * 29),
    ("declare module 'm' { enum E { A } }", "~" * 35),
    ("namespace N { export type A = 1; interface B {} }", "~" * 49),
    (
        "import type A from 'a'; import {type B, c, type D} from 'b'",
        "~" * 23 + " import {~~~~~~~ c, ~~~~~~} from 'b'",
    ),
    ("export type {A}; export {type B, c}", "~" * 16 + " export {~~~~~~~ c}"),
    ("import type, {a} from 'b'", "import type, {a} from 'b'"),
    ("function f(a: A): B\nfunction f(a) {}", "~" * 19 + "\nfunction f(a) {}"),
    (
        "abstract class A<T> extends B<T> implements C, D<E> {}",
        "~~~~~~~~ class A~~~ extends B~~~ ~~~~~~~~~~~~~~~~~~ {}",
    ),
    (
        "class A { private readonly a?: T = 1; static b!: U; declare c: V }",
        "class A { ~~~~~~~ ~~~~~~~~ a~~~~ = 1; static b~~~~; ~~~~~~~~~~~~ }",
    ),
    (
        "class A { [k: string]: T; m?(): U {} ; n(a: V): W; n(a) {} }",
        "class A { ~~~~~~~~~~~~~~; m~()~~~ {} ; ~~~~~~~~~~; n(a) {} }",
    ),
    ("class A { readonly\n a = 1 }", "class A { readonly\n a = 1 }"),
    ("type = 1; type\nA = 2", "type = 1; type\nA = 2"),
]


@pytest.mark.parametrize(("source", "wanted"), ROWS, ids=[source for source, _ in ROWS])
def test_a_type_becomes_blanks_of_the_same_length(source, wanted):
    erased = erase(PARSER, source)
    # In UTF-16 units, as JavaScript counts columns.
    assert erased.encode("utf-16") == wanted.replace("~", " ").encode("utf-16")


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("a\ntype T = 1\n(b)", "a\n;~~~~~~~~~\n(b)"),
        ("'use strict'\ninterface I {}\n(b)", "'use strict'\n;~~~~~~~~~~~~~\n(b)"),
        ("interface I {}\n'use strict'", "~~~~~~~~~~~~~~\n'use strict'"),
        ("a // b;\ntype T = 1\n(c)", "a // b;\n;~~~~~~~~~\n(c)"),
        ("if (a)\n  type T = 1\nb()", "if (a)\n  ;~~~~~~~~~\nb()"),
        ("let a = b as T\n(c)", "let a = b ;~~~\n(c)"),
        ("let a = () => b satisfies T // c\n`d`", "let a = () => b ;~~~~~~~~~~ // c\n`d`"),
        ("let a = b as T\n+ c", "let a = b ~~~~\n+ c"),
        ("a = (b): {\n  c: D\n} => b", "a = (b ~~~\n~~~~~~\n) => b"),
        ("async <\n  T\n>(a: T) => a", "async (\n~~~\n~~a~~~) => a"),
        ("class A { get: T\n b() {} }", "class A { get;~~\n b() {} }"),
        ("class A { a = 1\n public ['b'] = 2 }", "class A { a = 1\n ;~~~~~ ['b'] = 2 }"),
        ("class A { a = 1\n private *b() {} }", "class A { a = 1\n ;~~~~~~ *b() {} }"),
        (
            "class A { a = 1\n declare b: T\n ['c']() {} }",
            "class A { a = 1\n ;~~~~~~~~~~~\n ['c']() {} }",
        ),
    ],
)
def test_no_two_statements_are_joined_and_no_arrow_is_parted(source, wanted):
    assert erase(PARSER, source) == wanted.replace("~", " ")


@pytest.mark.parametrize(
    "source",
    [
        "«enum E { A }",
        "«const enum E { A }",
        "export «enum E { A }",
        "«namespace N { const a = 1 }",
        "«module M { }",
        "class A { constructor(«private a: T) {} }",
        "class A { constructor(«readonly a: T) {} }",
        "«import a = b.c",
        "import «a = require('b')",
        "«export = 1",
        "«@d class A {}",
        "class A { «accessor a = 1 }",
        "«<T>{}.a",
        "let f = () => «<T>{}",
        "function f() { return «<T>\n a }",
        "1 + 2 «as number * 3",
        "a == b + c «as T * d",
        "2 ** 3 «as number ** 4",
        "«abstract\nclass A {}",
        "a<T«>`b`",
        "a as T\n«[0]",
        "let a = b as T\n«<U>(c)",
        "let a: b = «)",
    ],
)
def test_what_cannot_be_erased_is_refused_with_its_place(source):
    with pytest.raises(NotErasableError) as refused:
        erase(PARSER, source.replace("«", ""))
    assert refused.value.at == source.index("«")


def test_javascript_that_the_parser_does_not_know_is_left_to_the_engine():
    source = "const a = String.raw`\\u${b}`; for (;"
    assert erase(PARSER, source) == source


def test_a_deep_nest_ends_no_python_stack():
    source = "[" * 20_000 + "1 as number" + "]" * 20_000
    assert erase(PARSER, source) == source.replace(" as number", " " * 10)


PIECES = st.sampled_from(
    [
        *(
            "a",
            "b",
            "T",
            " ",
            "\n",
            "\u2028",
            ":",
            "=",
            "=>",
            "(",
            ")",
            "<",
            ">",
            "{",
            "}",
            "[",
            "]",
        ),
        *(";", ",", "?", "!", ".", "as ", "type ", "class ", "interface ", "let ", "async "),
        *("return ", "public ", "get ", "declare ", "abstract ", "1", "'s'", "`", "${", "/*", "*/"),
        *("//", "😀"),
    ]
)


@hypothesis.settings(max_examples=150)
@hypothesis.given(st.lists(PIECES, max_size=40).map("".join))
def test_whatever_the_source_each_character_keeps_its_place_or_is_blanked(source):
    try:
        erased = erase(PARSER, source)
    except NotErasableError:
        return
    before, after = (memoryview(each.encode("utf-16-le")).cast("H") for each in (source, erased))
    assert len(before) == len(after)
    for unit, other in zip(before, after, strict=True):
        assert unit == other or (chr(other) in " ;()" and chr(unit) not in "\n\r\u2028\u2029")
