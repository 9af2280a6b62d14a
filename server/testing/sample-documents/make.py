"""Makes the documents beside it with programs that others wrote, and words.json: the words that each must be read with.

Run once by hand: python3 make.py, with LibreOffice, TeX, groff, Ghostscript, and the Python packages named below. Pages of
the same text by different programs differ in how a PDF is drawn; that is what is tested.
"""

import json
import os
import shutil
import subprocess
import tempfile

import docx
import openpyxl
import pptx
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from openpyxl.comments import Comment
from pptx.chart.data import CategoryChartData
from pptx.enum.chart import XL_CHART_TYPE
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfbase import pdfmetrics
from reportlab.pdfbase.cidfonts import UnicodeCIDFont
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import ListFlowable, Paragraph, SimpleDocTemplate, Spacer, Table

HERE = os.path.dirname(os.path.abspath(__file__))
WORK = tempfile.mkdtemp()
words = {}


def made(name, *texts):
    """Where a document goes; its words are those of the texts."""
    words[name] = sorted({word for text in texts for word in text.split()})
    return os.path.join(HERE, name)


def joined(rows):
    return " ".join(" ".join(row) for row in rows)


shops = ["Bakery", "Grocer", "Hardware", "Rent", "Insurance"]
account = [["Date", "Shop", "Amount", "Balance"]] + [
    [f"2026-10-{1 + i % 28:02d}", f"{shops[i % 5]} {100 + i}", f"{i * 37 % 900 + 1}.{i + 10}", f"{5000 - i * 13}.{i + 20}"]
    for i in range(70)
]
topics = ["Scope", "Payment", "Term", "Liability", "Notices", "Law", "Assignment"]
clauses = [
    (f"Clause {i + 1} {topic}", f"Under clause {i + 1} the {topic.lower()} ends {i * 17 + 3} days after notice {i + 41}.")
    for i, topic in enumerate(topics)
]
contract = joined(clauses) + " first second duty"
slides = [
    (f"Slide {i + 1}", [f"Point {i * 2 + j + 1} about {what}" for j, what in enumerate(["costs", "people"])], f"Say {7 * i + 7}")
    for i in range(5)
]
deck = joined((title, *points) for title, points, _ in slides)
figures = [["Region", "Units", "Share"], ["North", "812", "41"], ["South", "633", "32"]]
chinese = ["季度报告", "本季度销售额增长了百分之十五，客户满意度提高到九十二分。"]
chinese_keys = "仓库的钥匙在前台。"
fruit = [["产品", "数量", "价格"], ["苹果", "120", "3.5"], ["香蕉", "85", "2.8"]]
recipe = ["Boil 2 litres of water", "Add 300 grams of rice", "Wait 18 minutes"]
left = (
    "The lighthouse keeper counted ships through the long winter and wrote every name into a ledger bound in green leather. "
    "Storms came from the north in January and broke two windows of the lantern room."
)
right = (
    "Tides rise twice a day along this coast and leave pools among the rocks where crabs hide from gulls. "
    "Children gather mussels at low water and carry them home in buckets."
)


def add_rows(table, rows):
    for row in rows:
        for cell, text in zip(table.add_row().cells, row):
            cell.text = text


def word_account(path):
    document = docx.Document()
    document.add_heading("Account 4711", 1)
    add_rows(document.add_table(rows=0, cols=4), account)
    document.sections[0].footer.paragraphs[0].text = "Confidential"
    document.save(path)


def word_contract(path):
    document = docx.Document()
    for at, (title, text) in enumerate(clauses):
        if at > 0:
            document.add_page_break()
        document.add_heading(title, 2)
        document.add_paragraph(text)
        for duty in ["first duty", "second duty"]:
            document.add_paragraph(duty, style="List Number")
    document.save(path)


def word_chinese(path):
    document = docx.Document()
    for style in ["Normal", "Heading 1"]:
        fonts = document.styles[style].element.get_or_add_rPr().get_or_add_rFonts()
        fonts.set(qn("w:eastAsia"), "WenQuanYi Micro Hei")
    document.add_heading(chinese[0], 1)
    document.add_paragraph(chinese[1])
    add_rows(document.add_table(rows=0, cols=3), fruit)
    document.save(path)


def word_columns(path):
    document = docx.Document()
    columns = OxmlElement("w:cols")
    columns.set(qn("w:num"), "2")
    section = document.sections[0]._sectPr
    for old in section.findall(qn("w:cols")):
        section.remove(old)
    section.append(columns)
    for text in [left, right] * 4:
        document.add_paragraph(text)
    document.save(path)


def sheet(path):
    book = openpyxl.Workbook()
    accounts = book.active
    accounts.title = "Accounts"
    for column, width in zip("ABCD", [14, 18, 12, 12]):
        accounts.column_dimensions[column].width = width
    for row in account:
        accounts.append(row)
    accounts.append(["Sum", None, "=SUM(C2:C71)"])
    accounts["B3"].comment = Comment("Check this bakery", "Ann")
    book.create_sheet("Second").append(["only", "two words"])
    book.save(path)


def presentation(path):
    show = pptx.Presentation()
    for title, points, notes in slides:
        slide = show.slides.add_slide(show.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = "\n".join(points)
        slide.notes_slide.notes_text_frame.text = notes
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = "Figures"
    table = slide.shapes.add_table(3, 3, 914400, 1828800, 6000000, 1500000).table
    for row, cells in enumerate(figures):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text
    slide = show.slides.add_slide(show.slide_layouts[5])
    slide.shapes.title.text = "Chart"
    data = CategoryChartData()
    data.categories = ["Alpha", "Beta"]
    data.add_series("Gamma", (19.5, 22))
    slide.shapes.add_chart(XL_CHART_TYPE.COLUMN_CLUSTERED, 914400, 1828800, 6000000, 3500000, data)
    show.save(path)


word_account(made("python-docx-account.docx", "Account 4711 Confidential", joined(account)))
word_contract(made("python-docx-contract.docx", contract))
sheet(made("openpyxl-account.xlsx", joined(account), "Sum =SUM(C2:C71) Check this bakery Accounts Second only two words"))
presentation(made("python-pptx-deck.pptx", deck, joined(figures), "Say 7 14 21 28 35 Figures Chart Alpha Beta Gamma 19.5 22"))
word_chinese(f"{WORK}/chinese.docx")
word_columns(f"{WORK}/columns.docx")


def office(source, name, *texts):
    """The same document as LibreOffice writes it in another format."""
    ending = name.rsplit(".", 1)[1]
    quiet = {"check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    subprocess.run(["soffice", "--headless", "--convert-to", ending, "--outdir", WORK, source], **quiet)
    stem = os.path.splitext(os.path.basename(source))[0]
    shutil.move(f"{WORK}/{stem}.{ending}", made(name, *texts))


office(f"{HERE}/python-docx-account.docx", "libreoffice-account.pdf", "Account 4711 Confidential", joined(account))
office(f"{HERE}/python-docx-account.docx", "libreoffice-account.odt", "Account 4711 Confidential", joined(account))
office(f"{HERE}/python-docx-contract.docx", "libreoffice-contract.pdf", contract)
office(f"{HERE}/python-docx-contract.docx", "libreoffice-contract.odt", contract)
office(f"{HERE}/python-docx-contract.docx", "libreoffice-contract.rtf", contract)
office(f"{HERE}/python-docx-contract.docx", "libreoffice-contract.epub", contract)
office(f"{HERE}/openpyxl-account.xlsx", "libreoffice-account.ods", joined(account), "Check this bakery Second only two words")
office(f"{HERE}/openpyxl-account.xlsx", "libreoffice-sheet.pdf", joined(account), "Sum only two words")
office(f"{HERE}/python-pptx-deck.pptx", "libreoffice-deck.pdf", deck, joined(figures), "Figures Chart Alpha Beta Gamma")
office(f"{HERE}/python-pptx-deck.pptx", "libreoffice-deck.odp", deck, joined(figures), "Say 7 14 21 28 35 Figures Chart Alpha Beta Gamma 19.5 22")
office(f"{WORK}/chinese.docx", "libreoffice-chinese.pdf", *chinese, joined(fruit))
office(f"{WORK}/chinese.docx", "libreoffice-chinese.rtf", *chinese, joined(fruit))
office(f"{WORK}/columns.docx", "libreoffice-columns.pdf", left, right)


def tex(name, source, *texts):
    with open(f"{WORK}/tex.tex", "w") as file:
        file.write(source)
    subprocess.run(["pdflatex", "-interaction=batchmode", "tex.tex"], cwd=WORK, stdout=subprocess.DEVNULL)
    shutil.move(f"{WORK}/tex.pdf", made(name, *texts))


rows = "\\\\\n".join(" & ".join(row) for row in account[:40])
items = "".join(f"\\item {step}" for step in recipe)
tex(
    "tex-account.pdf",
    rf"\documentclass{{article}}\usepackage{{longtable}}\begin{{document}}\section{{Accounts}}\begin{{longtable}}{{llrr}}{rows}"
    rf"\end{{longtable}}\begin{{enumerate}}{items}\end{{enumerate}}$E = mc^2$.\footnote{{Measured by hand.}}\end{{document}}",
    *[joined(account[:40]), " ".join(recipe), "Accounts Measured by hand."],
)
tex(
    "tex-columns.pdf",
    rf"\documentclass[twocolumn]{{article}}\begin{{document}}{(left + chr(10) * 2 + right + chr(10) * 2) * 8}\end{{document}}",
    *[left, right],
)


def groff(source, *arguments):
    done = subprocess.run(["groff", "-ms", "-t", *arguments], input=source.encode(), capture_output=True, check=True)
    return done.stdout


table = ".TS\nbox tab(|);\nl l n n.\n" + "\n".join("|".join(row) for row in account[:45]) + "\n.TE\n"
columns = ".2C\n" + f".PP\n{left}\n.PP\n{right}\n" * 8
with open(made("groff-account.pdf", joined(account[:45]), left, "1. first"), "wb") as file:
    file.write(groff(f".PP\n{left}\n{table}.IP 1.\nfirst\n", "-Tpdf"))
with open(made("groff-columns.pdf", left, right), "wb") as file:
    file.write(groff(columns, "-Tpdf"))
with open(f"{WORK}/contract.ps", "wb") as file:
    file.write(groff("".join(f".SH\n{title}\n.PP\n{text}\n.bp\n" for title, text in clauses), "-Tps"))
to_pdf = ["gs", "-q", "-dNOPAUSE", "-dBATCH", "-sDEVICE=pdfwrite"]
target = made("ghostscript-contract.pdf", joined(clauses))
subprocess.run([*to_pdf, f"-sOutputFile={target}", f"{WORK}/contract.ps"], check=True)

styles = getSampleStyleSheet()


def furniture(canvas, document):
    canvas.drawString(72, 40, f"Page {document.page}")
    canvas.drawString(72, 800, "Acme Bank")


SimpleDocTemplate(made("reportlab-account.pdf", joined(account), "Account 4711 Acme Bank")).build(
    [Paragraph("Account 4711", styles["Heading1"]), Table(account, repeatRows=1)],
    onFirstPage=furniture,
    onLaterPages=furniture,
)
SimpleDocTemplate(made("reportlab-list.pdf", " ".join(recipe), left, right, "Name Text m^2")).build(
    [
        ListFlowable([Paragraph(step, styles["Normal"]) for step in recipe]),
        Spacer(1, 20),
        Paragraph("Area in m<super>2</super>", styles["Normal"]),
        Table([["Name", "Text"], ["Coast", Paragraph(left, styles["Normal"])], ["Sea", Paragraph(right, styles["Normal"])]]),
    ]
)
mixed = ["Warehouse handbook, version 7", chinese_keys]
pdfmetrics.registerFont(UnicodeCIDFont("STSong-Light"))
canvas = Canvas(made("reportlab-mixed.pdf", *mixed))
for y, font, text in zip((760, 720), ("Helvetica", "STSong-Light"), mixed):
    canvas.setFont(font, 14)
    canvas.drawString(72, y, text)
canvas.save()

canvas = Canvas(made("reportlab-deck.pdf", deck), pagesize=(720, 405))
for title, points, _ in slides:
    canvas.setFont("Helvetica-Bold", 28)
    canvas.drawString(40, 340, title)
    canvas.setFont("Helvetica", 16)
    for at, point in enumerate(points):
        canvas.drawString(60, 280 - 40 * at, point)
    canvas.showPage()
canvas.save()

with open(f"{HERE}/words.json", "w") as file:
    json.dump(words, file, ensure_ascii=False, indent=1)
shutil.rmtree(WORK)
