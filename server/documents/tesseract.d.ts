declare module "tesseract.js-core/tesseract-core-simd-lstm.js" {
  interface Tesseract {
    FS: { writeFile(path: string, bytes: Uint8Array): void };
    TessBaseAPI: new () => {
      /** 0 where it went well, here and below. */
      Init(folder: string, language: string, mode: number): number;
      SetVariable(name: string, value: string): void;
      /** Takes the file `/input`: its orientation as EXIF has it, and the angle to turn it by. */
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
