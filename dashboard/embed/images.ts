/** A picture on its way: what is sent, as a `data:` address, which is also what is shown. */
export interface Picture {
  data: string;
  name: string;
}

export const pictureTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"];
/** Of one message. */
export const mostPictures = 4;

// What is sent as text has a third more bytes, and a request of at most 1 MiB has up to four of them.
const most_bytes = 160 * 1024;
const longest_px = 1568;

/** The pictures among some files, each small enough to be sent; one that is none, or is damaged, is left out. */
export async function readPictures(files: Iterable<File>): Promise<Picture[]> {
  const taken = [...files].filter(({ type }) => pictureTypes.includes(type)).slice(0, mostPictures);
  const read = await Promise.all(taken.map((file) => readPicture(file).catch(() => null)));
  return read.filter((one) => one !== null);
}

async function readPicture(file: File): Promise<Picture> {
  const image = await createImageBitmap(file); // Throws for what only says that it is a picture.
  const small = file.size <= most_bytes ? file : await shrunk(image);
  image.close();
  return { data: await addressOf(small), name: file.name };
}

/** As large as it can be with so few bytes. */
async function shrunk(image: ImageBitmap): Promise<Blob> {
  for (let side = Math.min(longest_px, Math.max(image.width, image.height)); ; side = Math.floor(side * 0.7)) {
    const scale = side / Math.max(image.width, image.height);
    const canvas = new OffscreenCanvas(Math.ceil(image.width * scale), Math.ceil(image.height * scale));
    const context = canvas.getContext("2d")!;
    context.fillStyle = "#fff"; // What was transparent would become black.
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await canvas.convertToBlob({ type: "image/jpeg", quality: 0.8 });
    if (blob.size <= most_bytes || side < 100) return blob;
  }
}

/** As a `data:` address. */
export const addressOf = (blob: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
