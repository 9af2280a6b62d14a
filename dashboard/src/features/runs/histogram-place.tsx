/** The room of the chart above the list, before it comes: rows do not move under the pointer. */
export const HistogramPlace = () => <div aria-hidden className="h-34 shrink-0 border-b border-line max-rail:hidden" />;
