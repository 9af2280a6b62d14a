import { decodeFrameHeader, encodeFrameHeader } from "./frame-header.ts";
import type { Program, ProgramFile, SharedFile, SharedFolder } from "./program.ts";

/** Encodes a program for the child: a head, and the bytes of its files. */
export function encodeProgram({ files, mounted = [], shared, ...program }: Program): Uint8Array[] {
  const head: Head = {
    ...program,
    files: files.map(sizeOf),
    ...(mounted.length > 0 && { mounted: mounted.map(sizeOf) }),
    ...(shared && { shared: headOf(shared, files) }),
  };
  const contents = [...files, ...mounted].map(({ bytes }) => bytes);
  if (!shared) return [encodeFrameHeader(head), ...contents];
  const own = shared.files.filter(({ bytes }) => inputOf(bytes, files) === undefined).map(({ bytes }) => bytes);
  return [encodeFrameHeader(head), ...contents, ...own, ...(shared.variables ? [shared.variables] : [])];
}

const sizeOf = ({ name, bytes }: ProgramFile): FileSize => ({ name, size: bytes.length });

const headOf = ({ files, saves_variables, variables }: SharedFolder, inputs: readonly ProgramFile[]): SharedHead => ({
  files: files.map((file) => ({ ...sizeOf(file), sha256: file.sha256, input: inputOf(file.bytes, inputs) })),
  saves_variables,
  variables: variables?.length ?? null,
});

/** Returns the place of the input file with these bytes, which are sent only once. */
function inputOf(bytes: Uint8Array, inputs: readonly ProgramFile[]): number | undefined {
  const place = inputs.findIndex((input) => input.bytes === bytes);
  return place === -1 ? undefined : place;
}

type Read = (length: number) => Uint8Array<ArrayBuffer> | null;

/** Decodes a program. `read` returns this many bytes, or null if the server has closed the pipe. */
export function decodeProgram(read: Read): Program | null {
  const head = decodeFrameHeader<Head>(read);
  if (!head) return null;
  const { files, mounted = [], shared, ...program } = head;
  const readFile = ({ name, size }: FileSize): ProgramFile[] => {
    const bytes = read(size);
    return bytes ? [{ name, bytes }] : [];
  };
  const inputs = files.flatMap(readFile);
  const decoded = { ...program, files: inputs, mounted: mounted.flatMap(readFile) };
  return shared ? { ...decoded, shared: readShared(shared, inputs, read) } : decoded;
}

function readShared(
  { files, variables, ...rest }: SharedHead,
  inputs: readonly ProgramFile[],
  read: Read,
): SharedFolder {
  const readFile = ({ name, size, sha256, input }: SharedSize): SharedFile[] => {
    const bytes = input === undefined ? read(size) : inputs[input]?.bytes.slice();
    return bytes ? [{ name, bytes, sha256 }] : [];
  };
  return { ...rest, files: files.flatMap(readFile), variables: variables === null ? null : read(variables) };
}

interface FileSize {
  name: string;
  size: number;
}

interface SharedSize extends FileSize {
  sha256: string;
  /** Place of the input file with the same bytes. */
  input?: number | undefined;
}

interface SharedHead {
  files: SharedSize[];
  saves_variables: boolean;
  /** Their length. */
  variables: number | null;
}

type Head = Omit<Program, "files" | "mounted" | "shared"> & {
  files: FileSize[];
  mounted?: FileSize[];
  shared?: SharedHead;
};
