import ast
import math
from decimal import Decimal, DivisionByZero, InvalidOperation, Overflow, getcontext

getcontext().prec = 50
LONGEST = 5000


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
    return value.quantize(Decimal(1).scaleb(-integer(digits)), rounding="ROUND_HALF_UP")


def logarithm(value, base=None):
    return value.ln() if base is None else value.ln() / base.ln()


NAMES = {"pi": Decimal("3.14159265358979323846264338327950288419716939937510"), "e": Decimal(1).exp()}
FUNCTIONS = {
    "abs": abs,
    "round": rounded,
    "min": min,
    "max": max,
    "sum": lambda *values: sum(values, Decimal(0)),
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


def product(left, right):
    if left == left.to_integral_value() and right == right.to_integral_value():
        return Decimal(int(left) * int(right))
    return left * right


OPERATORS = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: product,
    ast.Div: lambda left, right: left / right,
    ast.FloorDiv: lambda left, right: (left / right).to_integral_value(rounding="ROUND_FLOOR"),
    ast.Mod: lambda left, right: left - right * (left / right).to_integral_value(rounding="ROUND_FLOOR"),
    ast.Pow: power,
}


def value_of(node, text):
    match node:
        case ast.Expression(body=body):
            return value_of(body, text)
        case ast.Constant(value=int() | float()) if not isinstance(node.value, bool):
            # The text of a number is exact, its binary fraction is not.
            return Decimal(ast.get_source_segment(text, node).replace("_", ""))
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -value_of(operand, text)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return value_of(operand, text)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return OPERATORS[type(op)](value_of(left, text), value_of(right, text))
        case ast.Name(id=name) if name in NAMES:
            return NAMES[name]
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name](*(value_of(arg, text) for arg in args))
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
    shown = format(value.normalize() if value != value.to_integral_value() else value.to_integral_value(), "f")
    return {"result": shown}
