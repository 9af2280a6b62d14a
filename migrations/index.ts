import init from "./0001_init.sql" with { type: "text" };
import idempotency from "./0002_idempotency.sql" with { type: "text" };
import retention from "./0003_retention.sql" with { type: "text" };
import audit from "./0004_audit.sql" with { type: "text" };
import projects from "./0005_projects.sql" with { type: "text" };
import secrets from "./0006_secrets.sql" with { type: "text" };
import files from "./0007_files.sql" with { type: "text" };
import usage from "./0008_usage.sql" with { type: "text" };
import children from "./0009_children.sql" with { type: "text" };
import earlyOutputs from "./0010_early_outputs.sql" with { type: "text" };
import webhooks from "./0011_webhooks.sql" with { type: "text" };
import schedules from "./0012_schedules.sql" with { type: "text" };
import memory from "./0013_memory.sql" with { type: "text" };
import threads from "./0014_threads.sql" with { type: "text" };
import replays from "./0015_replays.sql" with { type: "text" };
import suites from "./0016_suites.sql" with { type: "text" };
import people from "./0017_people.sql" with { type: "text" };
import runDurations from "./0018_run_durations.sql" with { type: "text" };
import waitingFiles from "./0019_waiting_files.sql" with { type: "text" };
import runTrees from "./0020_run_trees.sql" with { type: "text" };
import seededMessages from "./0021_seeded_messages.sql" with { type: "text" };
import maxConcurrent from "./0022_max_concurrent.sql" with { type: "text" };
import threadPlaces from "./0023_thread_places.sql" with { type: "text" };
import mcpSessions from "./0024_mcp_sessions.sql" with { type: "text" };
import clientCalls from "./0025_client_calls.sql" with { type: "text" };
import partialRecords from "./0026_partial_records.sql" with { type: "text" };
import mcpAskers from "./0027_mcp_askers.sql" with { type: "text" };
import threadChats from "./0028_thread_chats.sql" with { type: "text" };
import failedEntries from "./0029_failed_entries.sql" with { type: "text" };
import chatPages from "./0030_chat_pages.sql" with { type: "text" };
import imageUses from "./0031_image_uses.sql" with { type: "text" };
import runPushes from "./0032_run_pushes.sql" with { type: "text" };
import scores from "./0033_scores.sql" with { type: "text" };
import erasures from "./0034_erasures.sql" with { type: "text" };
import chunkBoxes from "./0035_chunk_boxes.sql" with { type: "text" };
import fileOwners from "./0036_file_owners.sql" with { type: "text" };
import facts from "./0037_facts.sql" with { type: "text" };
import identities from "./0038_identities.sql" with { type: "text" };
import filesBySender from "./0039_files_by_sender.sql" with { type: "text" };
import secondFactors from "./0040_second_factors.sql" with { type: "text" };
import chunkSources from "./0041_chunk_sources.sql" with { type: "text" };
import search from "./0042_search.sql" with { type: "text" };
import runFilters from "./0043_run_filters.sql" with { type: "text" };
import analytics from "./0044_analytics.sql" with { type: "text" };
import passwordResets from "./0045_password_resets.sql" with { type: "text" };
import alerts from "./0046_alerts.sql" with { type: "text" };
import projectMoves from "./0047_project_moves.sql" with { type: "text" };
import appendedJournal from "./0048_appended_journal.sql" with { type: "text" };
import threadHistory from "./0049_thread_history.sql" with { type: "text" };
import idleTimeout from "./0050_idle_timeout.sql" with { type: "text" };
import keyExposures from "./0051_key_exposures.sql" with { type: "text" };
import cloudConnections from "./0052_cloud_connections.sql" with { type: "text" };
import cacheWrites from "./0053_cache_writes.sql" with { type: "text" };
import priceTable from "./0054_price_table.sql" with { type: "text" };
import modelFallbacks from "./0055_model_fallbacks.sql" with { type: "text" };
import modelLists from "./0056_model_lists.sql" with { type: "text" };
import learntRefusals from "./0057_learnt_refusals.sql" with { type: "text" };
import documentReports from "./0058_document_reports.sql" with { type: "text" };
import pausedRuns from "./0060_paused_runs.sql" with { type: "text" };
import snippets from "./0061_snippets.sql" with { type: "text" };
import skills from "./0062_skills.sql" with { type: "text" };
import threadAgent from "./0064_thread_agent.sql" with { type: "text" };
import agentLabels from "./0065_agent_labels.sql" with { type: "text" };
import triggers from "./0066_triggers.sql" with { type: "text" };
import oauth from "./0067_oauth.sql" with { type: "text" };
import workspaces from "./0068_workspaces.sql" with { type: "text" };
import elicitations from "./0069_elicitations.sql" with { type: "text" };
import connectionAuth from "./0072_connection_auth.sql" with { type: "text" };
import consentBrowsers from "./0073_consent_browsers.sql" with { type: "text" };
import connectionGrants from "./0074_connection_grants.sql" with { type: "text" };
import connectionConsentBrowsers from "./0075_connection_consent_browsers.sql" with { type: "text" };

/** Every migration in order; the database's `user_version` is how many of them it has. Landed ones are never edited. */
export const migrations: readonly { name: string; sql: string }[] = [
  { name: "0001_init", sql: init },
  { name: "0002_idempotency", sql: idempotency },
  { name: "0003_retention", sql: retention },
  { name: "0004_audit", sql: audit },
  { name: "0005_projects", sql: projects },
  { name: "0006_secrets", sql: secrets },
  { name: "0007_files", sql: files },
  { name: "0008_usage", sql: usage },
  { name: "0009_children", sql: children },
  { name: "0010_early_outputs", sql: earlyOutputs },
  { name: "0011_webhooks", sql: webhooks },
  { name: "0012_schedules", sql: schedules },
  { name: "0013_memory", sql: memory },
  { name: "0014_threads", sql: threads },
  { name: "0015_replays", sql: replays },
  { name: "0016_suites", sql: suites },
  { name: "0017_people", sql: people },
  { name: "0018_run_durations", sql: runDurations },
  { name: "0019_waiting_files", sql: waitingFiles },
  { name: "0020_run_trees", sql: runTrees },
  { name: "0021_seeded_messages", sql: seededMessages },
  { name: "0022_max_concurrent", sql: maxConcurrent },
  { name: "0023_thread_places", sql: threadPlaces },
  { name: "0024_mcp_sessions", sql: mcpSessions },
  { name: "0025_client_calls", sql: clientCalls },
  { name: "0026_partial_records", sql: partialRecords },
  { name: "0027_mcp_askers", sql: mcpAskers },
  { name: "0028_thread_chats", sql: threadChats },
  { name: "0029_failed_entries", sql: failedEntries },
  { name: "0030_chat_pages", sql: chatPages },
  { name: "0031_image_uses", sql: imageUses },
  { name: "0032_run_pushes", sql: runPushes },
  { name: "0033_scores", sql: scores },
  { name: "0034_erasures", sql: erasures },
  { name: "0035_chunk_boxes", sql: chunkBoxes },
  { name: "0036_file_owners", sql: fileOwners },
  { name: "0037_facts", sql: facts },
  { name: "0038_identities", sql: identities },
  { name: "0039_files_by_sender", sql: filesBySender },
  { name: "0040_second_factors", sql: secondFactors },
  { name: "0041_chunk_sources", sql: chunkSources },
  { name: "0042_search", sql: search },
  { name: "0043_run_filters", sql: runFilters },
  { name: "0044_analytics", sql: analytics },
  { name: "0045_password_resets", sql: passwordResets },
  { name: "0046_alerts", sql: alerts },
  { name: "0047_project_moves", sql: projectMoves },
  { name: "0048_appended_journal", sql: appendedJournal },
  { name: "0049_thread_history", sql: threadHistory },
  { name: "0050_idle_timeout", sql: idleTimeout },
  { name: "0051_key_exposures", sql: keyExposures },
  { name: "0052_cloud_connections", sql: cloudConnections },
  { name: "0053_cache_writes", sql: cacheWrites },
  { name: "0054_price_table", sql: priceTable },
  { name: "0055_model_fallbacks", sql: modelFallbacks },
  { name: "0056_model_lists", sql: modelLists },
  { name: "0057_learnt_refusals", sql: learntRefusals },
  { name: "0058_document_reports", sql: documentReports },
  { name: "0060_paused_runs", sql: pausedRuns },
  { name: "0061_snippets", sql: snippets },
  { name: "0062_skills", sql: skills },
  { name: "0064_thread_agent", sql: threadAgent },
  { name: "0065_agent_labels", sql: agentLabels },
  { name: "0066_triggers", sql: triggers },
  { name: "0067_oauth", sql: oauth },
  { name: "0068_workspaces", sql: workspaces },
  { name: "0069_elicitations", sql: elicitations },
  { name: "0072_connection_auth", sql: connectionAuth },
  { name: "0073_consent_browsers", sql: consentBrowsers },
  { name: "0074_connection_grants", sql: connectionGrants },
  { name: "0075_connection_consent_browsers", sql: connectionConsentBrowsers },
];
