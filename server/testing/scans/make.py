"""Makes fax.pdf, jbig2.pdf and jpeg2000.pdf from scan.png, each with its image in another compression. Needs Pillow."""

import io
import struct
from pathlib import Path

from PIL import Image

here = Path(__file__).parent
scan = Image.open(here / "scan.png").convert("L")


def pdf(name, image, data, facts):
    width, height = image.size
    content = b"420 0 0 300 0 0 cm /I Do"
    head = f"/Type /XObject /Subtype /Image /Width {width} /Height {height} /ColorSpace /DeviceGray {facts}"
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Count 1 /Kids [3 0 R] >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 420 300] /Resources << /XObject << /I 5 0 R >> >> /Contents 4 0 R >>",
        b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content),
        b"<< %s /Length %d >>\nstream\n%s\nendstream" % (head.encode(), len(data), data),
    ]
    file = b"%PDF-1.7\n"
    offsets = []
    for at, one in enumerate(objects):
        offsets.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (at + 1, one)
    table = b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    end = b"xref\n0 6\n0000000000 65535 f \n%strailer\n<< /Size 6 /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n"
    (here / name).write_bytes(file + end % (table, len(file)))


def fax(image):
    """Returns the image as one strip of CCITT's group 4, in which black is 1."""
    tiff = io.BytesIO()
    image.point(lambda value: 0 if value > 127 else 255).convert("1").save(
        tiff, "TIFF", compression="group4", tiffinfo={278: image.size[1]}
    )
    tags = Image.open(io.BytesIO(tiff.getvalue())).tag_v2
    (start,), (length,) = tags[273], tags[279]
    return tiff.getvalue()[start : start + length]


def segment(number, kind, data):
    return struct.pack(">IBBBI", number, kind, 0, 1, len(data)) + data


width, height = scan.size
packed = fax(scan)
parameters = f"<< /K -1 /Columns {width} /Rows {height} >>"
pdf("fax.pdf", scan, packed, f"/BitsPerComponent 1 /Filter /CCITTFaxDecode /DecodeParms {parameters}")
page = segment(0, 48, struct.pack(">IIIIBH", width, height, 0, 0, 0, 0))
region = segment(1, 38, struct.pack(">IIIIBB", width, height, 0, 0, 0, 1) + packed)
pdf("jbig2.pdf", scan, page + region, "/BitsPerComponent 1 /Filter /JBIG2Decode")
wavelets = io.BytesIO()
scan.save(wavelets, "JPEG2000", quality_mode="rates", quality_layers=[20], irreversible=True)
pdf("jpeg2000.pdf", scan, wavelets.getvalue(), "/BitsPerComponent 8 /Filter /JPXDecode")
