-- Clients ask how many files of a store could not be read: those are counted without reading all the others.
CREATE INDEX memory_entries_failed ON memory_entries (project_id, environment, memory_id, id)
  WHERE status = 'failed';
