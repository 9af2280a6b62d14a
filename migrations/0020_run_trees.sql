-- Runs that came of one run, however many calls of agents lie between, are its tree. Each names the run at the top, which
-- counts them: a limit is held against the number at every call, and nobody has to walk the tree for it.
ALTER TABLE runs ADD COLUMN root_run_id TEXT; -- NULL at the top.
ALTER TABLE runs ADD COLUMN runs_below INTEGER NOT NULL DEFAULT 0; -- At the top: all that there ever were, also deleted ones.

WITH RECURSIVE tree (id, root) AS (
  SELECT id, parent_run_id FROM runs WHERE parent_run_id IS NOT NULL AND depth = 1
  UNION ALL SELECT runs.id, tree.root FROM tree CROSS JOIN runs ON runs.parent_run_id = tree.id
)
UPDATE runs SET root_run_id = tree.root FROM tree WHERE tree.id = runs.id;

UPDATE runs SET runs_below = counted.runs
FROM (SELECT root_run_id, count(*) AS runs FROM runs WHERE root_run_id IS NOT NULL GROUP BY 1) AS counted
WHERE counted.root_run_id = runs.id;
