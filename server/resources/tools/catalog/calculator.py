import ast
import math
from decimal import Context, Decimal, DivisionByZero, InvalidOperation, Overflow, getcontext, localcontext

getcontext().prec = 50
LONGEST = 5000
# Digits in which sums and products of two such numbers are exact.
EXACT = Context(prec=2 * LONGEST + 2)


def exact(function):
    """Computes without rounding to the digits of a division."""

    def compute(*values):
        with localcontext(EXACT):
            return within(function(*values))

    return compute


def within(value):
    if not value.is_finite():
        raise InvalidOperation
    if value and abs(value.adjusted()) > LONGEST:
        raise ValueError("The result is too long.")
    return value


def real(function):
    """Computes with binary fractions, and returns what such a fraction is printed as."""
    return lambda *values: Decimal(repr(function(*(float(value) for value in values))))


def whole(function):
    return lambda *values: Decimal(function(*(integer(value) for value in values)))


def integer(value):
    if value != value.to_integral_value():
        raise ValueError(f"{value} is no whole number.")
    return int(value)


def factorial(value):
    if not 0 <= value <= 1000:
        raise ValueError("factorial takes 0 to 1000.")
    return Decimal(math.factorial(integer(value)))


def rounded(value, digits=Decimal(0)):
    if abs(digits) > LONGEST:
        raise ValueError("That is too many digits.")
    rounded = value.quantize(Decimal(1).scaleb(-integer(digits)), rounding="ROUND_HALF_UP")
    # As 100, and not as 1E+2, whose digits would not be known.
    return rounded.quantize(Decimal(1)) if digits < 0 else rounded


def logarithm(value, base=None):
    return value.ln() if base is None else value.ln() / base.ln()


NAMES = {"pi": Decimal("3.14159265358979323846264338327950288419716939937510"), "e": Decimal(1).exp()}
FUNCTIONS = {
    "abs": exact(abs),
    "round": exact(rounded),
    "min": min,
    "max": max,
    "sum": exact(lambda *values: sum(values, Decimal(0))),
    "sqrt": lambda value: value.sqrt(),
    "exp": lambda value: value.exp(),
    "log": logarithm,
    "ln": lambda value: value.ln(),
    "log10": lambda value: value.log10(),
    "log2": lambda value: value.ln() / Decimal(2).ln(),
    "floor": lambda value: value.to_integral_value(rounding="ROUND_FLOOR"),
    "ceil": lambda value: value.to_integral_value(rounding="ROUND_CEILING"),
    "factorial": factorial,
    "gcd": whole(math.gcd),
    "lcm": whole(math.lcm),
    **{
        name: real(getattr(math, name))
        for name in ["sin", "cos", "tan", "asin", "acos", "atan", "degrees", "radians", "sinh", "cosh", "tanh", "atan2"]
    },
}


def power(base, exponent):
    if abs(exponent) > LONGEST:
        raise ValueError("The exponent is too large.")
    if base == base.to_integral_value() and exponent == exponent.to_integral_value() and exponent >= 0:
        # Whole numbers have no rounding, however long they are.
        digits = max(1, base.adjusted() + 1) * exponent
        if digits > LONGEST:
            raise ValueError("The result is too long.")
        return Decimal(int(base) ** int(exponent))
    return base**exponent


def quotient(left, right):
    """The whole number below a division; exact, because rounding up to it would make the rest negative."""
    if right == 0:
        raise ZeroDivisionError
    numerator, denominator = left.as_integer_ratio(), right.as_integer_ratio()
    return Decimal((numerator[0] * denominator[1]) // (numerator[1] * denominator[0]))


OPERATORS = {
    ast.Add: exact(lambda left, right: left + right),
    ast.Sub: exact(lambda left, right: left - right),
    ast.Mult: exact(lambda left, right: left * right),
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: exact(quotient),
    ast.Mod: exact(lambda left, right: left - right * quotient(left, right)),
    ast.Pow: power,
}


def number(text, value):
    """The decimal number of a text; such as 0x10 is known as a whole number only."""
    return Decimal(value) if isinstance(value, int) else Decimal(text)


def called(name, values):
    try:
        return within(FUNCTIONS[name](*values))
    except TypeError:
        raise ValueError(f"{name} does not take {len(values)} values.") from None


def value_of(node, text):
    match node:
        case ast.Expression(body=body):
            return value_of(body, text)
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            # The text of a number is exact, its binary fraction is not.
            return within(number(ast.get_source_segment(text, node).replace("_", ""), node.value))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return value_of(operand, text).copy_negate()
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return value_of(operand, text)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return within(OPERATORS[type(op)](value_of(left, text), value_of(right, text)))
        case ast.Name(id=name) if name in NAMES:
            return NAMES[name]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            return called(name, [value_of(arg, text) for arg in args])
    raise ValueError(f"This is no part of an expression: {ast.get_source_segment(text, node) or text}")


def main(args):
    text = args["expression"].strip().replace("^", "**").replace("×", "*").replace("÷", "/").replace("−", "-")
    try:
        value = value_of(ast.parse(text, mode="eval"), text)
    except (DivisionByZero, ZeroDivisionError):
        raise ValueError("This divides by zero.") from None
    except (InvalidOperation, Overflow):
        raise ValueError("This has no result.") from None
    except SyntaxError as error:
        raise ValueError(f"The expression cannot be read: {error.msg}.") from None
    value = +value if value != value.to_integral_value() else value
    whole = value.to_integral_value()
    # Without an exponent, unless nearly all digits would be zeros.
    shown = format(whole, "f") if value == whole else format(value.normalize(), "f" if value.adjusted() > -50 else "E")
    return {"result": shown}
