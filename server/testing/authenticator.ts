const flags = { present: 1, verified: 4, attested: 64 };

/** Faults that the device can be told to make. */
export interface Wrong {
  origin?: string;
  rpId?: string;
  challenge?: string;
  verified?: false;
  type?: string;
  /** Signs with another key. */
  foreign?: true;
  counter?: number;
}

/** Device that creates one passkey (ES256) and signs with it, as WebAuthn specifies, for the page at `origin`. */
export async function createAuthenticator(origin: string) {
  const [own, foreign] = await Promise.all([newKey(), newKey()]);
  const id = Buffer.from(crypto.getRandomValues(new Uint8Array(16)));
  const { x = "", y = "" } = await crypto.subtle.exportKey("jwk", own.publicKey);
  const bytes = (text: string) => Buffer.from(text, "base64url");
  // COSE: {1: 2, 3: -7, -1: 1, -2: x, -3: y}
  const publicKey = Buffer.concat([
    Buffer.from("a5010203262001215820", "hex"),
    bytes(x),
    Buffer.from("225820", "hex"),
    bytes(y),
  ]);
  let count = 0;

  const sha256 = (data: string | Uint8Array) => new Bun.CryptoHasher("sha256").update(data).digest();
  const clientData = (type: string, challenge: string, wrong: Wrong) =>
    Buffer.from(
      JSON.stringify({
        type: wrong.type ?? type,
        challenge: wrong.challenge ?? challenge,
        origin: wrong.origin ?? origin,
        crossOrigin: false,
      }),
    );
  function authData(more: number, wrong: Wrong): Buffer {
    const head = Buffer.alloc(5);
    head[0] = flags.present | (wrong.verified === false ? 0 : flags.verified) | more;
    head.writeUInt32BE(wrong.counter ?? ++count, 1);
    return Buffer.concat([sha256(wrong.rpId ?? new URL(origin).hostname), head]);
  }
  const answer = (response: object) => ({
    id: id.toString("base64url"),
    rawId: id.toString("base64url"),
    type: "public-key",
    response,
    clientExtensionResults: {},
    authenticatorAttachment: "platform",
  });

  return {
    make({ challenge }: { challenge: string }, wrong: Wrong = {}) {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(id.length);
      const data = Buffer.concat([authData(flags.attested, wrong), Buffer.alloc(16), length, id, publicKey]);
      const head = Buffer.from([0x58, data.length]);
      // CBOR: {"fmt": "none", "attStmt": {}, "authData": data}
      const object = Buffer.concat([
        Buffer.from("a363666d74646e6f6e656761747453746d74a0686175746844617461", "hex"),
        head,
        data,
      ]);
      return answer({
        clientDataJSON: clientData("webauthn.create", challenge, wrong).toString("base64url"),
        attestationObject: object.toString("base64url"),
        transports: ["internal"],
      });
    },

    async sign({ challenge }: { challenge: string }, wrong: Wrong = {}) {
      const [client, data] = [clientData("webauthn.get", challenge, wrong), authData(0, wrong)];
      const key = (wrong.foreign ? foreign : own).privateKey;
      const signed = Buffer.concat([data, sha256(client)]);
      const raw = new Uint8Array(await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, key, signed));
      return answer({
        clientDataJSON: client.toString("base64url"),
        authenticatorData: data.toString("base64url"),
        signature: asDer(raw).toString("base64url"),
      });
    },
  };
}

/** WebCrypto gives r and s side by side; devices give them as two ASN.1 integers. */
function asDer(raw: Uint8Array): Buffer {
  const integer = (part: Uint8Array): Buffer => {
    const first = part.findIndex((byte) => byte !== 0);
    const short = part.slice(first < 0 ? part.length - 1 : first);
    const value = short[0]! >= 0x80 ? Buffer.concat([Buffer.alloc(1), short]) : Buffer.from(short);
    return Buffer.concat([Buffer.from([2, value.length]), value]);
  };
  const body = Buffer.concat([integer(raw.slice(0, 32)), integer(raw.slice(32))]);
  return Buffer.concat([Buffer.from([0x30, body.length]), body]);
}

const newKey = () => crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
