/** Max-min fair shares of a total: small needs are met in full, larger ones share the rest. */
export function fairShares(needs: readonly number[], total: number): number[] {
  const shares: number[] = needs.map(() => 0);
  const ascending = needs.map((need, index) => ({ need, index })).sort((a, b) => a.need - b.need);
  let left = total;
  ascending.forEach(({ need, index }, done) => {
    const share = Math.min(need, Math.floor(left / (needs.length - done)));
    shares[index] = share;
    left -= share;
  });
  return shares;
}
