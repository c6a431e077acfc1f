// A stop is late if it is open or executed longer than this after its planned time: on the page and in the views alike.
export const LATE_AFTER_S = 900;
