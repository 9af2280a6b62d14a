import type { SendMailOptions } from "nodemailer";
import type { EmailTool } from "../../../domain/agent-snapshot.ts";
import type { ToolCall } from "../../../domain/run-state.ts";
import { EgressError } from "../../../lib/egress.ts";
import { isMailAddress, matchesAddress } from "../../../lib/mail-address.ts";
import { mimeTypeOf } from "../../../lib/mime-type.ts";
import { hideInAnyCase } from "../../../lib/redact.ts";
import type { RequestOutcome } from "../../../lib/request-outcome.ts";
import { type SmtpServer, smtpServer } from "../../../lib/smtp-server.ts";
import { settlesWithin } from "../../../lib/with-timeout.ts";
import type { ToolContext, ToolRunner } from "./context.ts";
import { secretsError } from "./send-call.ts";
import { type ToolResult, toolError } from "./tool-result.ts";

const attachmentBytes_max = 10 * 2 ** 20;

interface EmailArguments {
  to: string[];
  cc?: string[];
  subject: string;
  text: string;
  file_ids?: string[];
}

/** Sends one mail by the tool's server. */
export const run: ToolRunner<EmailTool> = async (call, tool, context, signal) => {
  const args = call.arguments as unknown as EmailArguments;
  const refusal = refuse(args, tool);
  if (refusal) return refusal;
  const secrets = await context.secrets(tool);
  const unusable = secretsError(secrets);
  if (unusable) return unusable;
  const attachments = await readAttachments(args.file_ids ?? [], context);
  if ("error" in attachments) return attachments;
  const mail = mailOf(call, args, tool, attachments);
  const server = smtpServer(tool.email.smtp_url);
  try {
    const destination = await context.egress.resolveServer(server.host, server.port, signal);
    return await send(
      mail,
      server,
      { ...destination, password: secrets.headers.password ?? "" },
      tool,
      context,
      signal,
    );
  } catch (error) {
    if (!(error instanceof EgressError)) throw error;
    return toolError(error.code, hideInAnyCase(error.message, context.hidden()), 1, error.request);
  }
};

/** Returns an error for recipients that are none or not allowed; null if the mail may be sent. */
function refuse({ to, cc = [], subject }: EmailArguments, { email: { allowed_recipients } }: EmailTool) {
  const recipients = [...to, ...cc];
  const strange = recipients.find((address) => !isMailAddress(address));
  if (strange !== undefined)
    return toolError("invalid_arguments", `${JSON.stringify(strange)} is no address, such as ada@example.com.`, 0);
  if (/[\r\n]/.test(subject)) return toolError("invalid_arguments", "The subject must be one line.", 0);
  const forbidden = allowed_recipients && recipients.find((address) => !matchesAddress(address, allowed_recipients));
  return forbidden ? toolError("recipient_not_allowed", `This tool may not write to ${forbidden}.`, 0) : null;
}

type Attachments = NonNullable<SendMailOptions["attachments"]>;

async function readAttachments(ids: readonly string[], { readFile }: ToolContext): Promise<Attachments | ToolResult> {
  const attachments: Attachments = [];
  let room = attachmentBytes_max;
  for (const id of new Set(ids)) {
    const file = await readFile(id, room);
    if (file === "missing") return toolError("file_not_found", `There is no file ${id}.`, 0);
    if (file === "too_large")
      return toolError("files_too_large", `The files are larger than ${attachmentBytes_max} bytes in total.`, 0);
    room -= file.bytes.length;
    attachments.push({ filename: file.name, content: Buffer.from(file.bytes), contentType: mimeTypeOf(file.name) });
  }
  return attachments;
}

const mailOf = (
  { id }: ToolCall,
  { to, cc, subject, text }: EmailArguments,
  { email: { from } }: EmailTool,
  attachments: Attachments,
): SendMailOptions => ({
  from,
  to,
  ...(cc && { cc }),
  subject,
  text,
  attachments,
  // A mail that is sent again after an unknown outcome has the same id, by which servers and readers drop copies.
  messageId: `<${id}@${from.slice(from.lastIndexOf("@") + 1).replace(/[^\w.-]/g, "")}>`,
});

interface Destination {
  addresses: readonly string[];
  loopback: boolean;
  ca?: string;
  password: string;
}

/** Connects only to a checked address; the name is for the certificate. */
async function send(
  mail: SendMailOptions,
  { host, port, user, secure }: SmtpServer,
  { addresses: [address = host], loopback, ca, password }: Destination,
  { email: { timeout_ms } }: EmailTool,
  { hidden }: ToolContext,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { createTransport } = await import("nodemailer"); // Imported late, because few runs send mail.
  const progress = watchProgress();
  const transport = createTransport({
    host: address,
    port,
    secure,
    // In clear text, an eavesdropper would read the password.
    requireTLS: !secure && !loopback,
    tls: { servername: host, ...(ca !== undefined && { ca }) },
    connectionTimeout: timeout_ms,
    greetingTimeout: timeout_ms,
    socketTimeout: timeout_ms,
    ...(user !== "" && { auth: { user, pass: password } }),
    disableFileAccess: true,
    disableUrlAccess: true,
    logger: progress.logger,
    transactionLog: true,
  });
  const stop = () => transport.close();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const sending = transport.sendMail(mail);
    // A server that sends a byte now and then never reaches the socket timeout.
    if (!(await settlesWithin(timeout_ms, sending)))
      return toolError("timeout", "The mail server was not done in time.", 1, progress.request());
    const { messageId, accepted, rejected, rejectedErrors } = await sending;
    const reasons = reasonsOf(rejectedErrors, hidden());
    const output = { message_id: messageId, accepted, rejected, ...(reasons && { reasons }) };
    return { output, error: null, attempts: 1 };
  } catch (error) {
    signal.throwIfAborted();
    const { code, message, request } = failureOf(error, progress.request());
    return toolError(code, hideInAnyCase(message, hidden()), 1, request);
  } finally {
    signal.removeEventListener("abort", stop);
    stop();
  }
}

/** Follows the commands of a connection, because its errors do not tell whether the text of the mail was sent. */
function watchProgress() {
  let isTextSent = false;
  const ignore = () => {};
  const debug = (...[entry, line]: unknown[]) => {
    if ((entry as { tnx?: string } | null)?.tnx === "client" && line === "DATA") isTextSent = true;
  };
  return {
    logger: { level: ignore, trace: ignore, debug, info: ignore, warn: ignore, error: ignore, fatal: ignore },
    request: (): RequestOutcome => (isTextSent ? "sent" : "not_sent"),
  };
}

/** Returns the server's words for each refused recipient; null if it refused none. */
function reasonsOf(errors: unknown, hidden: readonly string[]): Record<string, string> | null {
  if (!Array.isArray(errors) || errors.length === 0) return null;
  const of = ({ recipient, response }: { recipient?: unknown; response?: unknown }) =>
    [String(recipient), hideInAnyCase(wordsOf(response), hidden)] as const;
  return Object.fromEntries(errors.map(of));
}

const wordsOf = (response: unknown): string =>
  typeof response === "string" ? response.slice(0, 500).toWellFormed() : "";

interface Failure {
  code: string;
  message: string;
  request: RequestOutcome;
}

/** Returns the error for the model; `request` says how far the connection had come. */
function failureOf(error: unknown, request: RequestOutcome): Failure {
  const { code, response, responseCode } = Object(error) as Record<string, unknown>;
  const said = wordsOf(response);
  if (code === "EAUTH")
    return {
      code: "authentication_failed",
      message: `The mail server refused the login: ${said}`,
      request: "not_sent",
    };
  if (code === "ETLS")
    return { code: "tls_failed", message: "The mail server offers no STARTTLS, or no valid TLS.", request };
  if (typeof responseCode === "number") {
    const isForNow = responseCode >= 400 && responseCode < 500;
    const message = `The mail server refused the mail${isForNow ? " for now" : ""}: ${said}`;
    return { code: "smtp_error", message, request: "answered" };
  }
  return { code: "connect_failed", message: "The connection to the mail server failed.", request };
}
