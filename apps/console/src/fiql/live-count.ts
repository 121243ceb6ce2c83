import { useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { ApiError, type Asked } from "../api/client.ts";
import { filters as t } from "../text/en.ts";

/** Asks how many rows a query finds. */
export type CountOf = (query: string) => Asked<{ readonly total?: number | undefined }>;

/** A query is counted when nothing was written for so long; a count that takes longer says so, in milliseconds. */
const [stillMs, slowMs] = [300, 2_000];
const nothing: Asked<{ total?: number }> = { queryKey: ["filters", "uncounted"], queryFn: () => Promise.resolve({}) };

/** The value, when it has not changed for a while. */
function useStill<T>(value: T, ms: number): T {
  const [still, setStill] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setStill(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return still;
}

/**
 * How many rows a query finds that was not applied yet, in words, and what the server refuses about it. Another query ends the count of the one before.
 */
export function useLiveCount(query: string | undefined, countOf: CountOf | undefined): { words?: string; refused?: string | undefined } {
  const still = useStill(query, stillMs);
  const wanted = countOf !== undefined && query !== undefined && still === query;
  const { data, error, isFetching } = useQuery({
    ...(wanted ? countOf(query) : nothing),
    enabled: wanted,
    staleTime: 10_000,
    retry: false,
  });
  const isSlow = useStill(isFetching && wanted, slowMs) && isFetching;
  if (!wanted) return {};
  if (error instanceof ApiError && error.status === 400) return { refused: error.body.message };
  if (data?.total !== undefined) return { words: t.matches(data.total) };
  return isSlow ? { words: t.counting } : {};
}
