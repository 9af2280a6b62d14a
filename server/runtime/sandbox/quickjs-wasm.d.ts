declare module "@jitl/quickjs-wasmfile-release-sync/wasm" {
  /** Path of the file. */
  const path: string;
  export default path;
}
