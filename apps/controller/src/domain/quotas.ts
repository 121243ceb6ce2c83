/** Limits per tenant (contract management.md §9); 0 or less switches one off. */
export const quotas = {
  maxStatusEntriesPerAction: 1_000,
  maxMessagesPerActionStatus: 50,
  maxAttributeEntriesPerTarget: 100,
} as const;
