/** Returns the row of a query that always has one, such as a count. */
export function onlyRow<Row>(row: Row | null | undefined): Row {
  if (row === null || row === undefined) throw new Error("A query that always has a row returned none.");
  return row;
}
