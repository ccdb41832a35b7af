package classify

import "testing"

// These are written for this test, in the manner of servers and of none: the
// rules must hold for words that nobody has sent yet.
var verdicts = []errorCase{
	// overflow, with numbers
	{"", 400, "", Overflow, "Input tokens exceed the configured limit of 272,000 tokens. Your messages resulted in 301,777 tokens. Please reduce the length of the messages.", 272000, 301777},
	{"", 400, "", Overflow, "input length and `max_tokens` exceed context limit: 188059 + 20000 > 200000, decrease input length or `max_tokens` and try again", 200000, 208059},
	{"", 400, "", Overflow, "prompt token count of 136001 exceeds the limit of 128000", 128000, 136001},
	{"", 400, "", Overflow, "Requested token count exceeds the model's maximum context length of 40960 tokens. You requested a total of 50000 tokens: 40000 tokens from the input messages and 10000 tokens for the completion.", 40960, 50000},
	{"", 400, "", Overflow, "'max_tokens' or 'max_completion_tokens' is too large: 20000. This model's maximum context length is 16384 tokens and your request has 3000 input tokens (20000 > 16384 - 3000).", 16384, 23000},
	{"", 400, "", Overflow, "The decoder prompt (length 40000) is longer than the maximum model length of 32768. Make sure that `max_model_len` is no smaller than the number of text tokens.", 32768, 40000},
	{"", 400, "", Overflow, "You passed 450000 input characters and requested 1024 output tokens. However, the model's context length is only 16384 tokens, resulting in a maximum input length of 15360 tokens (at most 122880 characters). Please reduce the length of the input prompt.", 16384, 0},
	{"", 400, "", Overflow, "The estimated number of input and maximum output tokens (8021) exceeded this model context window limit (7968).", 7968, 8021},
	{"", 400, "", Overflow, "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5233. Try using a shorter prompt.", 4081, 5233},
	{"", 413, "tokens_limit_reached", Overflow, "Request body too large for gpt-4o model. Max size: 8000 tokens.", 8000, 0},
	{"", 400, "InvalidParameter", Overflow, "<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]", 129024, 0},
	{"", 400, "", Overflow, "Unable to submit request because the input token count is 50120 but model only supports up to 32768. Reduce the input token count and try again.", 32768, 50120},
	{"", 400, "", Overflow, "The input token count (1,196,265) exceeds the maximum number of tokens allowed (1,048,575).", 1048575, 1196265},
	{"", 400, "", Overflow, "Your conversation is 140k tokens long, which is more than this model's context window of 131k tokens.", 131000, 140000},
	{"", 400, "", Overflow, "the number of input tokens 5012 cannot exceed the total tokens limit 4096 for this model", 4096, 5012},
	{"", 500, "", Overflow, "RuntimeError: Prompt length (5000) exceeds maximum input length (4096)", 4096, 5000},
	{"", 424, "ModelError", Overflow, `Received client error (424) from primary with message "{"error":"Input validation error: ` + "`inputs`" + ` tokens + ` + "`max_new_tokens`" + ` must be <= 8192. Given: 9000 ` + "`inputs`" + ` tokens and 512 ` + "`max_new_tokens`" + `","error_type":"validation"}"`, 8192, 9512},
	{"", 400, "", Overflow, "Prompt too long: 140523 tokens. Model maximum context length: 131072.", 131072, 140523},
	{"", 400, "", Overflow, "input (1234 tokens) is too large to process. increase the physical batch size (current batch size: 512)", 512, 1234},
	{"", 400, "", Overflow, "Sequence of 9001 tokens does not fit into the model's context of 8192 tokens", 8192, 9001},
	{"", 0, "", Overflow, "openai.BadRequestError: Error code: 400 - {'error': {'message': \"This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens.\", 'code': 'context_length_exceeded'}}", 8192, 9001},
	// overflow, without
	{"", 400, "", Overflow, "Your input exceeds the context window of this model. Please adjust your input and try again.", 0, 0},
	{"", 200, "context_length_exceeded", Overflow, "", 0, 0},
	{"", 400, "", Overflow, "Prompt is too long", 0, 0},
	{"", 400, "", Overflow, "400 status code (no body)", 0, 0},
	{"", 400, "", Overflow, "CONTENT_LENGTH_EXCEEDS_THRESHOLD", 0, 0},
	{"", 400, "2013", Overflow, "invalid params, context window exceeds limit (2013)", 0, 0},
	{"", 400, "1261", Overflow, "Prompt 超长", 0, 0},
	{"", 400, "", Overflow, "输入的上下文长度超过模型上限", 0, 0},
	{"", 400, "", Overflow, "This conversation is too long to continue. Start a new chat.", 0, 0},
	{"", 413, "", Overflow, "<html><head><title>413 Request Entity Too Large</title></head></html>", 0, 0},
	{"", 400, "", Overflow, "Total tokens of image and text exceed max message tokens", 0, 0},
	{"", 400, "", Overflow, "The prompt is longer than the context length currently available to the model", 0, 0},
	{"", 500, "", Overflow, "context overflow: the model ran out of room for the prompt", 0, 0},
	// look-alikes
	{"", 429, "rate_limit_exceeded", RateLimit, "Request too large for gpt-x in organization org-1 on tokens per min (TPM): Limit 30000, Requested 33124. The input or output tokens must be reduced in order to run successfully.", 0, 0},
	{"", 429, "", RateLimit, "Quota exceeded for generate_content_requests_per_minute_per_project_per_base_model", 0, 0},
	{"", 400, "", RateLimit, "Too many tokens per day, please wait before trying again.", 0, 0},
	{"", 429, "", RateLimit, "", 0, 0},
	{"", 429, "RESOURCE_EXHAUSTED", Quota, "You exceeded your current quota, please check your plan and billing details.", 0, 0},
	{"", 402, "", Quota, "This request requires more credits, or fewer max_tokens. You requested up to 8192 tokens, but can only afford 4021.", 0, 0},
	{"", 400, "invalid_request_error", Quota, "Your credit balance is too low to access the API.", 0, 0},
	{"", 403, "", Auth, "Request had insufficient authentication scopes.", 0, 0},
	{"", 403, "", Auth, "", 0, 0},
	{"", 503, "", Overloaded, "The model is overloaded. Please try again later.", 0, 0},
	{"", 502, "", Overloaded, "Bad gateway", 0, 0},
	{"", 0, "", Timeout, `Post "https://api.example.com/v1/messages": context deadline exceeded (Client.Timeout exceeded while awaiting headers)`, 0, 0},
	{"", 504, "", Timeout, "upstream request timeout", 0, 0},
	{"", 400, "", OutputLimit, "max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens for claude-x", 0, 0},
	{"", 400, "", OutputLimit, "max_tokens is too large: 100000. This model supports at most 16384 completion tokens, whereas you provided 100000.", 0, 0},
	{"", 400, "", BadRequest, "max_tokens must be greater than thinking.budget_tokens", 0, 0},
	{"", 400, "", BadRequest, "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6789012 bytes > 5242880 bytes", 0, 0},
	{"", 400, "", BadRequest, "Invalid 'tools': array too long. Expected an array with maximum length 128, but got an array with length 140 instead.", 0, 0},
	{"", 404, "", BadRequest, "The model `gpt-9` does not exist", 0, 0},
	{"", 400, "", BadRequest, "temperature: Input should be less than or equal to 1", 0, 0},
	{"", 400, "", Malformed, "messages.363: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01. Each `tool_use` block must have a corresponding `tool_result` block in the next message.", 0, 0},
	{"", 400, "", Malformed, "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'.", 0, 0},
	{"", 400, "", Malformed, "Please ensure that function call turn comes immediately after a user turn or after a function response turn.", 0, 0},
	{"", 400, "", Malformed, "messages.5.content.0: Invalid `signature` in `thinking` block", 0, 0},
	{"", 400, "", Malformed, "Item 'rs_1' of type 'reasoning' was provided without its required following item.", 0, 0},
	{"", 400, "invalid_encrypted_content", Malformed, "The encrypted content gAAA could not be verified.", 0, 0},
	{"", 400, "", Malformed, "No tool output found for function call call_1.", 0, 0},
	{"", 400, "", Malformed, "Expected toolResult blocks at messages.2.content for the following Ids: tooluse_1", 0, 0},
	{"", 400, "", Malformed, "A maximum of 4 blocks with cache_control may be provided. Found 5.", 0, 0},
	{"", 400, "", Malformed, "messages: text content blocks must be non-empty", 0, 0},
	{"", 400, "", Malformed, "Conversation roles must alternate user/assistant/user/assistant/...", 0, 0},
	{"", 400, "", Malformed, "Function call is missing a thought_signature in functionCall parts, position 2", 0, 0},
	{"", 500, "", Other, "Internal server error", 0, 0},
	{"", 0, "", Other, "something happened", 0, 0},
	{"", 0, "", Other, "context canceled", 0, 0},
	// a second round, written after the rules
	{"", 400, "", Overflow, "The request is too large for the model's context window. Please shorten your prompt.", 0, 0},
	{"", 400, "", Overflow, "Maximum context length exceeded: 12000 tokens > 8192 tokens", 8192, 12000},
	{"", 400, "", Overflow, "Context window of 32768 tokens exceeded: prompt is 40123 tokens", 32768, 40123},
	{"", 400, "", Overflow, "This model can only handle 4096 tokens, but 5000 were given.", 4096, 5000},
	{"", 400, "", Overflow, "Input has 5000 tokens which is over the 4096 token limit", 4096, 5000},
	{"", 400, "", Overflow, "Length of prompt (5000) is more than max_seq_len (4096)", 4096, 5000},
	{"", 400, "", Overflow, "Prompt length 5000 is greater than context window 4096", 4096, 5000},
	{"", 400, "", Overflow, "Your prompt has 5000 tokens but the model's limit is 4096", 4096, 5000},
	{"", 400, "", Overflow, "Input is too long. Max 4096 tokens, got 5000.", 4096, 5000},
	{"", 400, "", Overflow, "The message you submitted was too long, please reload the conversation and submit something shorter.", 0, 0},
	{"", 400, "", Overflow, "Message is too long. Limit: 4096 tokens. Current: 5000 tokens.", 4096, 5000},
	{"", 400, "", Overflow, "tokens in prompt (5000) + max new tokens (500) > 4096", 4096, 5500},
	{"", 400, "", Overflow, "This model's context window is 8,192 tokens; your request used 9,001.", 8192, 9001},
	{"", 400, "", Overflow, "exceeded the maximum number of tokens: 4096", 4096, 0},
	{"", 400, "", Overflow, "The total length of the messages (120000 tokens) is above the maximum (100000).", 100000, 120000},
	{"", 400, "model_max_prompt_tokens_exceeded", Overflow, "", 0, 0},
	{"", 400, "", Overflow, "com.example.ContextLengthExceededException", 0, 0},
	{"", 400, "", Overflow, "The combined length of the prompt and completion exceeds 4096", 4096, 0},
	{"", 400, "", Overflow, "maximum allowed: 4096; received: 5000 tokens in the input", 4096, 5000},
	{"", 400, "", Overflow, "The text is too long: 6000 tokens (max 5000)", 5000, 6000},
	{"", 400, "", Overflow, "prompt size 70210 exceeds num_ctx 65536", 65536, 70210},
	{"", 429, "", RateLimit, "You have exceeded your daily token limit", 0, 0},
	{"", 403, "", Quota, "Monthly token limit exceeded for this workspace", 0, 0},
	{"", 400, "", BadRequest, "Function name exceeds maximum length of 64 characters", 0, 0},
	{"", 400, "", BadRequest, "tools.0.description: exceeds maximum length of 1024", 0, 0},
	{"", 400, "", BadRequest, "Number of stop sequences exceeds limit of 4", 0, 0},
	{"", 400, "", BadRequest, "logit_bias: token id 250000 exceeds vocabulary size 200019", 0, 0},
	{"", 400, "", OutputLimit, "max_output_tokens exceeds limit of 8192", 0, 0},
	{"", 400, "", BadRequest, "JSON nesting exceeds maximum depth", 0, 0},
	{"", 400, "", BadRequest, "metadata value too long", 0, 0},
	{"", 400, "", BadRequest, "Unknown parameter: 'context_management'.", 0, 0},
	{"", 400, "", BadRequest, "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", 0, 0},
	{"", 400, "", BadRequest, "context_management: Extra inputs are not permitted", 0, 0},
	{"", 500, "", Other, "The server had an error while processing your request. Sorry about that!", 0, 0},
}

func TestVerdicts(t *testing.T) {
	for _, c := range verdicts {
		for form, body := range c.bodies() {
			if c.HTTP == 0 && form != "text" || c.Message == "" && form == "quoted" || c.Message == "" && c.Code != "" && form == "text" {
				continue
			}
			if form == "nested" && (c.Kind == Other || c.Message == "") || form == "quoted" && c.Kind == Other {
				continue // the wrapping says more than the words
			}
			v := Classify(c.HTTP, nil, body)
			if v.Kind != c.Kind || v.Limit != c.Limit || v.Actual != c.Actual {
				t.Errorf("%s: %s %d/%d, want %s %d/%d\n%s", form, v.Kind, v.Actual, v.Limit, c.Kind, c.Actual, c.Limit, body)
			}
		}
	}
}
