/** Placeholder with the chart's height, so that rows do not move under the pointer. */
export const HistogramPlace = () => <div aria-hidden className="h-34 shrink-0 border-b border-line max-rail:hidden" />;
