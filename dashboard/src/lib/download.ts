/** Downloads a response of this server as a file. */
export function downloadUrl(url: string, filename: string): void {
  const link = document.createElement("a");
  link.href = url;
  link.download = filename;
  link.click();
}

/** Downloads a text as a file. */
export function downloadText(text: string, filename: string, type = "application/json"): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  downloadUrl(url, filename);
  // The browser has read the content by then.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
