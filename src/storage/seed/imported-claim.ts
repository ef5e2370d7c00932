/** `reason` of a sprint that another program recorded as completed, until the checks confirm it. */
export const importedClaimReason = 'imported as completed; the checks have not confirmed it'
