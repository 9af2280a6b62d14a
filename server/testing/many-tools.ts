import { Server } from "@modelcontextprotocol/sdk/server/index.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { CallToolRequestSchema, ListToolsRequestSchema } from "@modelcontextprotocol/sdk/types.js";
import { requireValue } from "../lib/require-value.ts";
import type { ChatAnswer } from "./model-server.ts";

interface Property {
  type: string;
  description: string;
  items?: { type: string };
  enum?: string[];
}

const text = (description: string): Property => ({ type: "string", description });
const number = (description: string): Property => ({ type: "integer", description });
const list = (description: string): Property => ({ type: "array", items: { type: "string" }, description });
const choice = (description: string, ...values: string[]): Property => ({ type: "string", enum: values, description });
const limit = number("Maximum number of results to return, from 1 to 100.");
const repository = { owner: text("Account that owns the repository."), repo: text("Name of the repository.") };

/** Twelve services with five tools each: what a tool does, and its parameters, the first of which is required. */
const services: Record<string, Record<string, [about: string, properties: Record<string, Property>]>> = {
  github: {
    create_issue: [
      "Create a new issue in a GitHub repository. Labels and assignees must exist.",
      { ...repository, title: text("Title of the issue."), body: text("Text in Markdown."), labels: list("Labels.") },
    ],
    list_issues: [
      "List issues of a repository with filters for state and labels.",
      { ...repository, state: choice("State.", "open", "closed", "all"), limit },
    ],
    create_pull_request: [
      "Open a pull request that merges one branch into another.",
      {
        ...repository,
        title: text("Title."),
        head: text("Branch with the changes."),
        base: text("Branch to merge into."),
      },
    ],
    merge_pull_request: [
      "Merge a pull request that is approved and whose checks passed.",
      {
        ...repository,
        number: number("Number of the pull request."),
        method: choice("How.", "merge", "squash", "rebase"),
      },
    ],
    get_file_contents: [
      "Get the content of a file or directory at a commit, branch or tag.",
      { ...repository, path: text("Path of the file."), ref: text("Commit, branch or tag.") },
    ],
  },
  slack: {
    post_message: [
      "Send a message to a channel or a thread of the workspace.",
      { channel: text("Channel id or name."), text: text("Message text."), thread_ts: text("Thread to reply in.") },
    ],
    list_channels: ["List public and private channels that the bot can see.", { cursor: text("Page."), limit }],
    get_thread: ["Read all replies of a thread.", { channel: text("Channel id."), thread_ts: text("Timestamp.") }],
    add_reaction: [
      "Add an emoji reaction to a message.",
      { channel: text("Channel id."), timestamp: text("Message."), name: text("Name of the emoji.") },
    ],
    set_status: ["Set the custom status of a user.", { status: text("Status text."), expires: number("Unix time.") }],
  },
  jira: {
    search_issues: [
      "Search for issues with a JQL query.",
      { jql: text("Query in JQL."), fields: list("Fields."), limit },
    ],
    create_ticket: [
      "Create a ticket in a project, such as a bug, a task or a story.",
      {
        project: text("Key of the project."),
        summary: text("One line."),
        kind: choice("Kind.", "bug", "task", "story"),
      },
    ],
    transition_ticket: [
      "Move a ticket to another status of its workflow.",
      { key: text("Key such as OPS-12."), status: text("Name of the new status.") },
    ],
    assign_ticket: [
      "Assign a ticket to a person.",
      { key: text("Key such as OPS-12."), assignee: text("Account id.") },
    ],
    add_comment: ["Comment on a ticket.", { key: text("Key such as OPS-12."), body: text("Comment text.") }],
  },
  stripe: {
    create_refund: [
      "Refund a charge, in full or in part. The money goes back to the original card.",
      { charge: text("Id of the charge."), amount: number("Cents; left out: all."), reason: text("Reason.") },
    ],
    list_charges: ["List charges of a customer, newest first.", { customer: text("Id of the customer."), limit }],
    create_customer: ["Create a customer record.", { email: text("E-mail address."), name: text("Full name.") }],
    create_invoice: [
      "Draft an invoice for a customer. It is sent when it is finalized.",
      { customer: text("Id of the customer."), days_until_due: number("Days."), items: list("Prices.") },
    ],
    cancel_subscription: [
      "Cancel a subscription at once or at the end of its period.",
      { subscription: text("Id of the subscription."), at_period_end: { type: "boolean", description: "When." } },
    ],
  },
  calendar: {
    create_event: [
      "Schedule a meeting with attendees and a video link.",
      { title: text("Title."), start: text("RFC 3339."), end: text("RFC 3339."), attendees: list("E-mail addresses.") },
    ],
    list_events: ["List events between two moments.", { from: text("RFC 3339."), to: text("RFC 3339."), limit }],
    delete_event: ["Delete an event and tell its attendees.", { event_id: text("Id of the event.") }],
    find_free_slots: [
      "Find times at which all attendees are free.",
      { attendees: list("E-mail addresses."), minutes: number("Duration."), from: text("RFC 3339.") },
    ],
    respond_to_invitation: [
      "Accept or decline an invitation.",
      { event_id: text("Id of the event."), answer: choice("Answer.", "accept", "decline", "tentative") },
    ],
  },
  gmail: {
    send_email: [
      "Send an e-mail with optional attachments.",
      { to: list("Recipients."), subject: text("Subject."), body: text("Text."), cc: list("Copies.") },
    ],
    search_threads: ["Search mail threads with Gmail's query syntax.", { query: text("Query."), limit }],
    create_draft: [
      "Write a draft without sending it.",
      { to: list("Recipients."), subject: text("Subject."), body: text("Text.") },
    ],
    add_label: ["Label a thread.", { thread_id: text("Id of the thread."), label: text("Name of the label.") }],
    get_attachment: ["Download an attachment of a message.", { message_id: text("Id."), attachment_id: text("Id.") }],
  },
  drive: {
    search_files: [
      "Find documents, sheets and folders by name or content.",
      { query: text("Words."), folder: text("Id."), limit },
    ],
    read_document: ["Read the text of a document or sheet.", { file_id: text("Id of the file.") }],
    share_file: [
      "Give a person access to a file.",
      { file_id: text("Id of the file."), email: text("Who."), role: choice("Role.", "reader", "writer") },
    ],
    create_folder: ["Create a folder.", { name: text("Name."), parent: text("Id of the parent folder.") }],
    move_file: [
      "Move a file to another folder.",
      { file_id: text("Id of the file."), folder: text("Id of the folder.") },
    ],
  },
  warehouse: {
    run_query: ["Run a read-only SQL query and get rows as JSON.", { sql: text("One SELECT statement."), limit }],
    list_tables: ["List tables and views of a schema.", { schema: text("Name of the schema.") }],
    describe_table: ["Show columns, types and keys of a table.", { table: text("Name of the table.") }],
    export_rows: [
      "Export the result of a query to a CSV file.",
      { sql: text("One SELECT statement."), name: text("File.") },
    ],
    explain_query: ["Show the plan of a query without running it.", { sql: text("One SELECT statement.") }],
  },
  crm: {
    find_account: ["Look up a company by name or domain.", { name: text("Name."), domain: text("Domain.") }],
    update_opportunity: [
      "Change stage, amount or close date of a deal.",
      { opportunity_id: text("Id of the deal."), stage: text("Stage."), amount: number("Dollars.") },
    ],
    log_activity: ["Record a call or a meeting with a contact.", { contact_id: text("Id."), notes: text("Notes.") }],
    create_lead: [
      "Add a potential customer to the pipeline.",
      { company: text("Company."), email: text("E-mail address.") },
    ],
    list_contacts: ["List people of an account.", { account_id: text("Id of the account."), limit }],
  },
  monitor: {
    query_metrics: [
      "Read a time series of a metric.",
      { query: text("Query."), from: text("RFC 3339."), to: text("RFC 3339.") },
    ],
    list_alerts: ["List alerts that are firing.", { severity: choice("Severity.", "info", "warning", "critical") }],
    mute_alert: [
      "Silence an alert for some time.",
      { alert_id: text("Id of the alert."), minutes: number("Duration.") },
    ],
    search_logs: ["Search log lines of services.", { query: text("Words."), service: text("Service."), limit }],
    create_dashboard: ["Create a dashboard with graphs.", { title: text("Title."), metrics: list("Metrics.") }],
  },
  cloud: {
    list_instances: ["List virtual machines of a region.", { region: text("Region.") }],
    restart_instance: ["Restart a virtual machine.", { instance_id: text("Id of the machine.") }],
    upload_object: [
      "Upload bytes to a bucket.",
      { bucket: text("Bucket."), key: text("Key."), content: text("Base64.") },
    ],
    invoke_function: ["Invoke a serverless function with JSON.", { name: text("Name."), payload: text("JSON.") }],
    get_costs: ["Report costs by service and day.", { from: text("Date."), to: text("Date.") }],
  },
  travel: {
    search_flights: [
      "Find flights between two airports on a date.",
      { from: text("IATA code."), to: text("IATA code."), date: text("Date."), passengers: number("How many.") },
    ],
    book_hotel: [
      "Book a hotel room.",
      { hotel_id: text("Id of the hotel."), check_in: text("Date."), nights: number("Nights.") },
    ],
    get_weather: ["Get the forecast for a city.", { city: text("City."), days: number("How many days.") }],
    convert_currency: [
      "Convert an amount between currencies.",
      { amount: number("Amount."), from: text("ISO code."), to: text("ISO code.") },
    ],
    rent_car: [
      "Reserve a rental car.",
      { city: text("City."), from: text("Date."), to: text("Date."), category: text("Size.") },
    ],
  },
};

/** Sixty tools as an MCP server lists them. */
export const manyTools = Object.entries(services).flatMap(([service, tools]) =>
  Object.entries(tools).map(([name, [description, properties]]) => ({
    name: `${service}_${name}`,
    description,
    inputSchema: {
      type: "object" as const,
      properties,
      required: Object.keys(properties).slice(0, 1),
      additionalProperties: false,
    },
  })),
);

/** Starts an MCP server on loopback with these tools. Each call is answered with the tool's name and its arguments. */
export function startManyTools(tools = manyTools) {
  const calls: { name: string; arguments: Record<string, unknown> }[] = [];
  const http = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    async fetch(request) {
      const server = new Server({ name: "office", version: "1" }, { capabilities: { tools: {} } });
      server.setRequestHandler(ListToolsRequestSchema, () => ({ tools }));
      server.setRequestHandler(CallToolRequestSchema, ({ params }) => {
        const call = { name: params.name, arguments: params.arguments ?? {} };
        calls.push(call);
        return { content: [{ type: "text", text: `${call.name} ${JSON.stringify(call.arguments)}` }] };
      });
      const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
      await server.connect(transport);
      return transport.handleRequest(request);
    },
  });
  return { url: `http://127.0.0.1:${http.port}/`, calls, stop: () => http.stop(true) };
}

/** Two tasks for each service, in a user's words: the tool that does it, and what a model would search for. */
export const toolTasks: { input: string; tool: string; query: string; arguments: Record<string, unknown> }[] = (
  [
    ["Report the crash at login on GitHub.", "github_create_issue", "report a bug on GitHub", "owner"],
    ["Show me README.md of the main branch.", "github_get_file_contents", "read a file of a repository", "owner"],
    ["Tell #ops that the deployment is done.", "slack_post_message", "send a message to a channel", "channel"],
    ["React with a thumbs up.", "slack_add_reaction", "emoji reaction", "channel"],
    ["OPS-12 is finished.", "jira_transition_ticket", "change the status of a ticket", "key"],
    ["Who works on OPS-12? Give it to Ada.", "jira_assign_ticket", "assign ticket to a person", "key"],
    ["The customer wants her money back.", "stripe_create_refund", "refund a payment", "charge"],
    ["He no longer wants to subscribe.", "stripe_cancel_subscription", "cancel a subscription", "subscription"],
    ["Meet Bob tomorrow at ten.", "calendar_create_event", "schedule a meeting", "title"],
    ["When are Bob and Ada both free?", "calendar_find_free_slots", "find free time of attendees", "attendees"],
    ["Write Bob that I am late.", "gmail_send_email", "send an email", "to"],
    ["What did Ada write about the offer?", "gmail_search_threads", "search my mail", "query"],
    ["Let Ada edit the budget sheet.", "drive_share_file", "give access to a file", "file_id"],
    ["What does the contract say?", "drive_read_document", "read the text of a document", "file_id"],
    ["How many orders were there in May?", "warehouse_run_query", "run SQL", "sql"],
    ["Which columns has orders?", "warehouse_describe_table", "columns of a table", "table"],
    ["The deal with Acme is won.", "crm_update_opportunity", "change the stage of a deal", "opportunity_id"],
    ["I called Mr Smith.", "crm_log_activity", "record a phone call with a contact", "contact_id"],
    ["Is anything on fire?", "monitor_list_alerts", "alerts that are firing", "severity"],
    ["Why did checkout fail at noon?", "monitor_search_logs", "search the logs of a service", "query"],
    ["Reboot the build machine.", "cloud_restart_instance", "reboot a virtual machine", "instance_id"],
    ["What did we pay for storage in May?", "cloud_get_costs", "cloud cost report", "from"],
    ["Will it rain in Oslo?", "travel_get_weather", "weather forecast", "city"],
    ["What are 20 euros in yen?", "travel_convert_currency", "exchange rate", "amount"],
  ] as const
).map(([input, tool, query, first]) => ({ input, tool, query, arguments: { [first]: fittingValue(tool, first) } }));

/** A value that fits the schema of a parameter. */
function fittingValue(tool: string, parameter: string): unknown {
  const { inputSchema } = requireValue(
    manyTools.find(({ name }) => name === tool),
    `The tool ${tool}`,
  );
  const { type, enum: values } = requireValue(inputSchema.properties[parameter], `Its parameter ${parameter}`);
  return values?.[0] ?? (type === "integer" ? 1 : type === "array" ? ["x"] : "x");
}

/**
 * A scripted model for these tasks. It calls the tool if the request defines it, else searches for it once, and gives up
 * if that was in vain. `prefix` is the server's name.
 */
export function toolModel(prefix: string) {
  return ({
    messages,
    tools = [],
  }: {
    messages: { role: string; content: string }[];
    tools?: { function: { name: string } }[];
  }): ChatAnswer => {
    const spent = { prompt_tokens: 1, completion_tokens: 1 };
    const last = messages.findLastIndex(({ role }) => role === "user");
    const task = toolTasks.find(({ input }) => input === messages[last]?.content);
    const results = messages.slice(last).filter(({ role }) => role === "tool");
    const names = tools.map((one) => one.function.name);
    if (!task || results.at(-1)?.content.startsWith(`${task.tool} {`)) return { text: "It is done.", ...spent };
    const name = `${prefix}_${task.tool}`;
    if (names.includes(name)) return { calls: [{ name, arguments: task.arguments }], ...spent };
    if (results.length > 0 || !names.includes("search_tools")) return { text: "I cannot do that.", ...spent };
    return { calls: [{ name: "search_tools", arguments: { query: task.query } }], ...spent };
  };
}
