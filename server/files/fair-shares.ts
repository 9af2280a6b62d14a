/** What each gets of a total: as much as it needs, as far as that takes nothing from those that need less. */
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
