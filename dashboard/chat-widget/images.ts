/** An image to be sent. `data` is a `data:` URL, used for sending and for the preview. */
export interface Picture {
  data: string;
  name: string;
}

export const pictureTypes = ["image/png", "image/jpeg", "image/webp", "image/gif"];
/** Maximum per message. */
export const mostPictures = 4;

// Base64 adds a third, and a request of at most 1 MiB holds up to four images.
const most_bytes = 160 * 1024;
const longest_px = 1568;

/** Reads the images among the files and scales each to the size limit. Skips other files and damaged images. */
export async function readPictures(files: Iterable<File>): Promise<Picture[]> {
  const taken = [...files].filter(({ type }) => pictureTypes.includes(type)).slice(0, mostPictures);
  const pictures = await Promise.all(taken.map((file) => readPicture(file).catch(() => null)));
  return pictures.filter((one) => one !== null);
}

async function readPicture(file: File): Promise<Picture> {
  const image = await createImageBitmap(file); // Throws if the file is not a valid image.
  const small = file.size <= most_bytes ? file : await shrunk(image);
  image.close();
  return { data: await addressOf(small), name: file.name };
}

/** Scales an image down to the largest size within the byte limit. */
async function shrunk(image: ImageBitmap): Promise<Blob> {
  for (let side = Math.min(longest_px, Math.max(image.width, image.height)); ; side = Math.floor(side * 0.7)) {
    const scale = side / Math.max(image.width, image.height);
    const canvas = new OffscreenCanvas(Math.ceil(image.width * scale), Math.ceil(image.height * scale));
    const context = canvas.getContext("2d")!;
    // JPEG has no transparency: without a background, transparent pixels would become black.
    context.fillStyle = "#fff";
    context.fillRect(0, 0, canvas.width, canvas.height);
    context.drawImage(image, 0, 0, canvas.width, canvas.height);
    const blob = await canvas.convertToBlob({ type: "image/jpeg", quality: 0.8 });
    if (blob.size <= most_bytes || side < 100) return blob;
  }
}

/** Converts a blob to a `data:` URL. */
export const addressOf = (blob: Blob): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error);
    reader.readAsDataURL(blob);
  });
