"""Reads documents as other programs do: a JSON list of {id, path, kind} from standard input, a line of JSON for each on
standard output: {id, tool, text}, or {id, tool, error}. A library that is missing gives {id, missing: its name}."""

import datetime
import email
import email.policy
import io
import json
import multiprocessing
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import zipfile
from decimal import Decimal
from xml.etree import ElementTree

SECONDS = 120
MEMORY = 3 * 2**30


class Missing(Exception):
    pass


def library(name, package):
    try:
        return __import__(name, fromlist=["x"])
    except ImportError:
        raise Missing(package) from None


# -- PDF


def pdf(path):
    if not shutil.which("pdftotext"):
        raise Missing("pdftotext")
    done = subprocess.run(["pdftotext", "-q", "-enc", "UTF-8", path, "-"], capture_output=True, timeout=SECONDS)
    if done.returncode != 0:
        raise ValueError("pdftotext reads nothing")
    return done.stdout.decode("utf-8", "replace")


# -- Office


WORD = "application/vnd.%s.main+xml"
WORD_KIN = [
    WORD % "ms-word.document.macroEnabled",
    WORD % "ms-word.template.macroEnabledTemplate",
    WORD % "openxmlformats-officedocument.wordprocessingml.template",
]
SLIDES_KIN = [
    WORD % "ms-powerpoint.presentation.macroEnabled",
    WORD % "ms-powerpoint.slideshow.macroEnabled",
    WORD % "ms-powerpoint.template.macroEnabled",
    WORD % "openxmlformats-officedocument.presentationml.slideshow",
    WORD % "openxmlformats-officedocument.presentationml.template",
]


def docx(path):
    library("docx", "python-docx")
    from docx.opc.part import PartFactory
    from docx.package import Package
    from docx.parts.document import DocumentPart

    # python-docx refuses documents with macros and templates by their type only.
    PartFactory.part_type_for.update(dict.fromkeys(WORD_KIN, DocumentPart))
    document = Package.open(path).main_document_part.document
    lines = []

    def story(part):
        for item in part.iter_inner_content():
            if hasattr(item, "rows"):
                seen = set()
                for row in item.rows:
                    for cell in row.cells:
                        if cell._tc not in seen:
                            seen.add(cell._tc)
                            story(cell)
            else:
                lines.append(item.text)

    story(document)
    parts = {}
    for section in document.sections:
        for name in ("header", "footer", "first_page_header", "first_page_footer"):
            part = getattr(section, name)
            if not part.is_linked_to_previous:
                parts[part.part.partname] = part
    for part in parts.values():
        story(part)
    for comment in getattr(document, "comments", []):
        story(comment)
    return "\n".join(lines)


def cell_text(value):
    if isinstance(value, datetime.datetime) and value.time() == datetime.time():
        return value.date().isoformat()
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, float):
        return format(Decimal(repr(value)).normalize(), "f")
    return str(value)


def xlsx(path):
    module = library("openpyxl", "openpyxl")
    # openpyxl judges by the name.
    with open(path, "rb") as file:
        book = module.load_workbook(io.BytesIO(file.read()), data_only=True)
    rows = []
    for sheet in book.worksheets:
        cells = [cell_text(value) for row in sheet.iter_rows(values_only=True) for value in row if value is not None]
        if cells:
            rows.extend([sheet.title, *cells])
    return "\n".join(rows)


def pptx(path):
    library("pptx", "python-pptx")
    from pptx.opc.package import PartFactory
    from pptx.package import Package
    from pptx.parts.presentation import PresentationPart

    PartFactory.part_type_for.update(dict.fromkeys(SLIDES_KIN, PresentationPart))
    lines = []

    def shapes(items):
        for shape in items:
            if getattr(shape, "shapes", None) is not None:
                shapes(shape.shapes)
            if shape.has_text_frame:
                lines.append(shape.text_frame.text)
            if getattr(shape, "has_table", False) and shape.has_table:
                lines.extend(cell.text for cell in shape.table.iter_cells())

    for slide in Package.open(path).presentation_part.presentation.slides:
        shapes(slide.shapes)
        if slide.has_notes_slide and slide.notes_slide.notes_text_frame is not None:
            lines.append(slide.notes_slide.notes_text_frame.text)
    return "\n".join(lines).replace("\v", "\n")


BLOCKS = {"p", "h", "table-cell", "list-item", "line-break", "tab", "s"}
# Deleted text, scripts and the fields that documents.md names are no text of the document.
SKIPPED = {"tracked-changes", "scripts", "event-listeners", "forms", "page-number", "creator", "date-string"}


def odf(path):
    lines = []

    def walk(node):
        name = node.tag.rsplit("}", 1)[-1]
        if name in SKIPPED:
            return
        if name in BLOCKS:
            lines.append("\n")
        lines.append(node.text or "")
        for child in node:
            walk(child)
            lines.append(child.tail or "")
        if name in BLOCKS:
            lines.append("\n")

    with zipfile.ZipFile(path) as package:
        walk(ElementTree.fromstring(package.read("content.xml")).find(".//{*}body"))
    return "".join(lines)


def office(path):
    """Converts by LibreOffice."""
    program = shutil.which("soffice")
    if not program:
        raise Missing("soffice")
    with tempfile.TemporaryDirectory() as folder:
        flags = ["--headless", f"-env:UserInstallation=file://{folder}/user", "--convert-to", "txt:Text (encoded):UTF8"]
        copy = os.path.join(folder, "in" + os.path.splitext(path)[1])
        shutil.copyfile(path, copy)
        subprocess.run([program, *flags, "--outdir", folder, copy], capture_output=True, timeout=SECONDS)
        with open(os.path.join(folder, "in.txt"), encoding="utf-8-sig") as file:
            return file.read()


def rtf(path):
    if shutil.which("soffice"):
        return office(path)
    module = library("striprtf.striprtf", "striprtf")
    with open(path, encoding="latin-1") as file:
        return module.rtf_to_text(file.read(), errors="replace")


# -- HTML and books


def html_text(data):
    module = library("bs4", "beautifulsoup4")
    soup = module.BeautifulSoup(data, "html.parser")
    # documents.md names the parts that surround the content.
    for tag in soup(["script", "style", "nav", "button", "select", "svg", "template", "noscript", "datalist"]):
        tag.decompose()
    for tag in soup("footer"):
        if not tag.find_parent(["article", "blockquote", "section", "main"]):
            tag.decompose()
    if soup.find("h1"):
        for tag in soup("title"):
            tag.decompose()
    for tag in soup.find_all(["br", "p", "div", "td", "th", "li", "tr", "hr", "dt", "dd", "option", "pre", "h1", "h2", "h3",
                              "h4", "h5", "h6", "title", "blockquote", "caption", "figcaption", "img", "center", "article"]):
        tag.insert_before("\n")
        tag.insert_after("\n")
    return soup.get_text()


def html(path):
    with open(path, "rb") as file:
        return html_text(file.read())


def epub(path):
    lines = []
    with zipfile.ZipFile(path) as package:
        container = ElementTree.fromstring(package.read("META-INF/container.xml"))
        root = container.find(".//{*}rootfile").get("full-path")
        book = ElementTree.fromstring(package.read(root))
        items = {item.get("id"): item for item in book.findall(".//{*}item")}
        for ref in book.findall(".//{*}itemref"):
            item = items[ref.get("idref")]
            if "nav" in (item.get("properties") or ""):
                continue
            name = os.path.normpath(os.path.join(os.path.dirname(root), item.get("href")))
            lines.append(html_text(package.read(name)))
    return "\n".join(lines)


# -- Mail


def decoded(part):
    data = part.get_payload(decode=True) or b""
    charset = part.get_content_charset() or "utf-8"
    try:
        return data.decode(charset)
    except (LookupError, UnicodeDecodeError):
        return data.decode("utf-8" if is_utf8(data) else "windows-1252", "replace")


def is_utf8(data):
    try:
        data.decode("utf-8")
        return True
    except UnicodeDecodeError:
        return False


def mail_text(message):
    if message.get_content_maintype() == "multipart":
        parts = [mail_text(part) for part in message.iter_parts()]
        # The same text in several forms: the longest is the whole.
        return max(parts, key=lambda text: len(text.split()), default="") if (
            message.get_content_subtype() == "alternative"
        ) else "\n".join(parts)
    if message.get_content_type() == "message/rfc822":
        return "\n".join(whole_mail(part) for part in message.get_payload())
    if message.get_content_type() == "text/html":
        return html_text(decoded(message))
    return decoded(message) if message.get_content_maintype() == "text" else ""


def whole_mail(message):
    lines = []
    for name in ("Subject", "From", "To", "Cc", "Date"):
        if name == "Date" and message.get(name):
            continue  # Times are written in many ways.
        lines.extend(str(value) for value in message.get_all(name, []))
    return "\n".join([*lines, mail_text(message)])


def eml(path):
    with open(path, "rb") as file:
        return whole_mail(email.message_from_binary_file(file, policy=email.policy.default))


def msg(path):
    module = library("extract_msg", "extract-msg")
    with module.openMsg(path) as message:
        parts = [message.subject, message.sender, message.to, message.cc, message.body]
        return "\n".join(part for part in parts if part)


# -- Text


def text_of(path, fallback=None):
    with open(path, "rb") as file:
        data = file.read()
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return data.decode("utf-16")
    if is_utf8(data):
        return data.decode("utf-8-sig")
    # The folder's name says it in a corpus of encodings.
    folder = os.path.basename(os.path.dirname(path)).lower()
    named = re.findall(r"(?:iso-8859|windows)-\d+", folder + " " + os.path.basename(path))
    for name in [folder, *named, folder.replace("ibm", "cp"), fallback]:
        try:
            return data.decode(name or "no name")
        except (LookupError, UnicodeDecodeError):
            continue
    best = library("charset_normalizer", "charset-normalizer").from_bytes(data).best()
    if best is None:
        raise ValueError("the encoding is unknown")
    return str(best)


def table(path):
    # Without a name, tables in this corpus are of Western Europe.
    words = text_of(path, "windows-1252")
    if "\0" in words:
        raise ValueError("it holds NUL")
    # Quotes and separators of the format are no text; nothing else differs.
    return re.sub('[",;|]', " ", words)


KINDS = {
    "pdf": ("pdftotext", pdf),
    "docx": ("python-docx", docx),
    "xlsx": ("openpyxl", xlsx),
    "pptx": ("python-pptx", pptx),
    "odf": ("content.xml", odf),
    "rtf": ("LibreOffice" if shutil.which("soffice") else "striprtf", rtf),
    "html": ("BeautifulSoup", html),
    "epub": ("BeautifulSoup", epub),
    "mail": ("Python's email", eml),
    "msg": ("extract-msg", msg),
    "csv": ("Python's codecs", table),
    "text": ("Python's codecs", text_of),
}


def stop(*_):
    raise TimeoutError(f"no answer within {SECONDS} seconds")


def read(task):
    tool, reader = KINDS[task["kind"]]
    signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        return {"id": task["id"], "tool": tool, "text": reader(task["path"])}
    except Missing as missing:
        return {"id": task["id"], "missing": str(missing)}
    except Exception as error:  # Faulty files are a part of every corpus.
        return {"id": task["id"], "tool": tool, "error": f"{type(error).__name__}: {error}"[:300]}
    finally:
        signal.alarm(0)


def bound():
    # A small sheet may have a cell in its last row and column.
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def main():
    import warnings
    import logging

    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    tasks = json.load(sys.stdin)
    sys.setrecursionlimit(5000)
    with multiprocessing.Pool(os.cpu_count(), bound, maxtasksperchild=50) as pool:
        for answer in pool.imap_unordered(read, tasks):
            print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
