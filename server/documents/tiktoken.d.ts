declare module "*.tiktoken" {
  /** Where the file is. */
  const path: string;
  export default path;
}
