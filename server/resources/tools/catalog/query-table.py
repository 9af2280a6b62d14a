import csv
import io
import os
import re
import sqlite3
from urllib.parse import quote

FOLDER = "/input"
SQLITE = b"SQLite format 3\x00"
READS = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
    sqlite3.SQLITE_PRAGMA,
}
PRAGMAS = {"table_info", "table_xinfo", "table_list", "index_list", "index_info", "foreign_key_list"}


def name_of(filename, used):
    """A name that needs no quotes in SQL: sales_2026 for "Sales 2026.csv"."""
    stem = re.sub(r"\W+", "_", os.path.splitext(filename)[0]).strip("_").lower() or "table"
    if stem[0].isdigit() or stem.startswith("sqlite_"):
        stem = f"t_{stem}"
    name, count = stem, 1
    while name in used or name in ("main", "temp"):
        count += 1
        name = f"{stem}_{count}"
    used.add(name)
    return name


def quoted(name):
    return '"' + name.replace('"', '""') + '"'


def read_text(path):
    data = open(path, "rb").read()
    for encoding in ("utf-8-sig", "cp1252"):
        try:
            if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
                return data.decode("utf-16")
            return data.decode(encoding)
        except UnicodeDecodeError:
            continue
    return data.decode("latin-1")


def rows_of(text):
    """The rows of a table, without empty ones. Texts are in double quotes, which are doubled inside, as in RFC 4180."""
    lines = io.StringIO(text, newline="")
    # Excel names the separator so, and does not show the line.
    named = re.match(r"sep=(.)\r?\n", text)
    if named:
        lines.seek(named.end())
    delimiter = named[1] if named else delimiter_of(text)
    return [row for row in csv.reader(lines, delimiter=delimiter, skipinitialspace=True) if any(row)]


def delimiter_of(text):
    """The separator by which most of the first rows have as many cells as the first one, and that more than one."""

    def score(delimiter):
        sample = csv.reader(io.StringIO(text[:65536], newline=""), delimiter=delimiter, skipinitialspace=True)
        widths = []
        for row in sample:
            if any(row):
                widths.append(len(row))
            if len(widths) == 100:
                break
        if not widths or widths[0] < 2:
            return (0, 0)
        return (sum(width == widths[0] for width in widths) / len(widths), widths[0])

    best = max(",;\t|", key=score)
    return best if score(best)[0] > 0 else ","


def number_or_text(value):
    """A number if nothing of the text is lost by it: not for 007, which is an identifier."""
    if re.fullmatch(r"-?(0|[1-9]\d{0,17})", value):
        return int(value)
    if re.fullmatch(r"-?(0|[1-9]\d{0,14})\.\d{1,15}", value):
        return float(value)
    return value


def columns_of(header, width):
    columns, used = [], set()
    for index in range(width):
        name = (header[index].strip() if index < len(header) else "") or f"column_{index + 1}"
        base, count = name, 1
        while name.lower() in used:
            count += 1
            name = f"{base}_{count}"
        used.add(name.lower())
        columns.append(name)
    return columns


def add_csv(database, path, table):
    text = read_text(path)
    csv.field_size_limit(10_000_000)
    rows = rows_of(text)
    if not rows:
        return
    width = max(len(row) for row in rows)
    if width > 2000:
        raise ValueError(f"{os.path.basename(path)} has {width} columns; 2000 can be read.")
    columns = columns_of(rows[0], width)
    database.execute(f"create table main.{quoted(table)} ({', '.join(quoted(column) for column in columns)})")
    marks = ", ".join("?" * width)
    values = ([number_or_text(cell) if cell != "" else None for cell in row + [""] * (width - len(row))] for row in rows[1:])
    database.executemany(f"insert into main.{quoted(table)} values ({marks})", values)


def open_files(database):
    used, sources = set(), {}
    for filename in sorted(os.listdir(FOLDER)):
        path = os.path.join(FOLDER, filename)
        if not os.path.isfile(path):
            continue
        start = open(path, "rb").read(16)
        if start == SQLITE:
            name = name_of(filename, used)
            database.execute("attach database ? as " + quoted(name), (f"file:{quote(path)}?immutable=1",))
            sources[name] = filename
        elif filename.lower().endswith((".csv", ".tsv", ".tab")):
            name = name_of(filename, used)
            add_csv(database, path, name)
            sources[name] = filename
    return sources


def may(action, first, second, schema, trigger):
    if action == sqlite3.SQLITE_PRAGMA:
        return sqlite3.SQLITE_OK if (first or "").lower() in PRAGMAS else sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() == "load_extension":
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in READS else sqlite3.SQLITE_DENY


def list_tables(database, sources):
    tables = []
    for schema in ["main", *(name for name in sources if name in schemas_of(database))]:
        query = f"select name from {quoted(schema)}.sqlite_master where type in ('table', 'view') and name not like 'sqlite_%'"
        for (table,) in database.execute(query + " order by name").fetchall():
            columns = database.execute(f"pragma {quoted(schema)}.table_info({quoted(table)})").fetchall()
            count = database.execute(f"select count(*) from {quoted(schema)}.{quoted(table)}").fetchone()[0]
            tables.append(
                {
                    "table": table if schema == "main" else f"{schema}.{table}",
                    "file": sources.get(table if schema == "main" else schema),
                    "rows": count,
                    "columns": [{"name": column[1], "type": column[2]} for column in columns],
                }
            )
    return tables


def schemas_of(database):
    return {row[1] for row in database.execute("pragma database_list")}


def plain(value):
    if isinstance(value, bytes):
        return f"[{len(value)} bytes]"
    # JSON has no such numbers.
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return str(value)
    if isinstance(value, int) and abs(value) > 2**53:
        return str(value)
    return value


def main(args):
    database = sqlite3.connect("file::memory:", uri=True)
    try:
        sources = open_files(database)
    except sqlite3.DatabaseError as error:
        raise ValueError(f"A file cannot be read: {error}.") from None
    if not sources:
        raise ValueError("There is no CSV file and no SQLite database among the files.")
    sql = (args.get("sql") or "").strip()
    if sql == "":
        return {"tables": list_tables(database, sources)}
    database.commit()
    database.set_authorizer(may)
    limit = args.get("limit") or 100
    try:
        cursor = database.execute(sql)
        rows = cursor.fetchmany(limit + 1)
    except (sqlite3.Error, sqlite3.Warning) as error:
        raise ValueError(f"SQLite: {error}") from None
    if cursor.description is None:
        raise ValueError("Only a SELECT can be run.")
    return {
        "columns": [column[0] for column in cursor.description],
        "rows": [[plain(value) for value in row] for row in rows[:limit]],
        "has_more": len(rows) > limit,
    }
