declare module "tesseract.js-core/tesseract-core-simd-lstm.js" {
  interface Tesseract {
    FS: { writeFile(path: string, bytes: Uint8Array): void };
    TessBaseAPI: new () => {
      /** Returns 0 on success; so do the methods below. */
      Init(folder: string, language: string, mode: number): number;
      SetVariable(name: string, value: string): void;
      /** Loads the file `/input`, with its EXIF orientation and the angle to rotate it by. */
      SetImageFile(orientation: number, angle: number): number;
      GetTSVText(page: number): string;
    };
  }
  export default function load(options: {
    wasmBinary: Uint8Array;
    print(line: string): void;
    printErr(line: string): void;
  }): Promise<Tesseract>;
}
