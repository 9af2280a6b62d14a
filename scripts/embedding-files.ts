import { copyFileSync, existsSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { basename, join } from "node:path";
import { embeddingFiles, ocrFiles } from "../server/lib/assets.ts";
import { inProject } from "./root.ts";

/** Copies the files of the built-in embedding model into `dist/embedding`, and returns that folder. */
export function embeddingFolder(): string {
  const { graph, vocabulary, weights, wasm, wasmSimd } = embeddingFiles();
  return folderOf("dist/embedding", [graph, vocabulary, ...weights, wasm, wasmSimd]);
}

/** Copies the files of the OCR engine into `dist/ocr`, and returns that folder. */
export const ocrFolder = (): string => folderOf("dist/ocr", Object.values(ocrFiles()));

function folderOf(place: string, files: readonly string[]): string {
  const folder = inProject(place);
  if (files.every((file) => isCopy(file, join(folder, basename(file))))) return folder;
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  try {
    for (const file of files) copyFileSync(file, join(making, basename(file)));
    rmSync(folder, { recursive: true, force: true });
    renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
  return folder;
}

/** Compares by size: the packages' versions are exact, and another version of a model has another size. */
const isCopy = (file: string, copy: string) => existsSync(copy) && statSync(copy).size === statSync(file).size;
