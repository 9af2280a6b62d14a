/** An object that was looked at. */
export interface Recent {
  path: string;
  title: string;
}

const most = 8;

/** The list with this object at its head, each only once. The same list when nothing changes. */
export function pushRecent(list: Recent[], recent: Recent): Recent[] {
  const [head] = list;
  if (head?.path === recent.path && head.title === recent.title) return list;
  return [recent, ...list.filter(({ path }) => path !== recent.path)].slice(0, most);
}
