declare module "*.tiktoken" {
  /** Path of the file. */
  const path: string;
  export default path;
}
