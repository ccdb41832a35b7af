package table

// rows are the agents. e2e/agents runs each of those that can be wrapped, and
// docs/agents has a page for each.
var rows = []Agent{
	{
		Name: "claude", Program: "claude", Title: "Claude Code", Aliases: []string{"claude-code"}, Checked: "2.1.325",
		Pointed:    "ANTHROPIC_BASE_URL",
		Window:     "its model's; 200,000 tokens of Sonnet 4 to 4.6 and Opus 4.6, unless the model's name ends in [1m]",
		Compaction: "switched off by DISABLE_AUTO_COMPACT",
		Settings:   "ANTHROPIC_BASE_URL=GATEWAY ENABLE_TOOL_SEARCH=true DISABLE_AUTO_COMPACT=1 claude",
		Sessions: Sessions{
			Format: "claude-code", Folders: []Place{{"CLAUDE_CONFIG_DIR", ".claude", "projects"}}, Endings: []string{".jsonl"},
			Resume: "claude --resume ID",
		},
		Requests: Requests{
			UserAgents: []string{"claude-cli/"},
			Summary:    []string{"your task is to create a detailed summary of"},
		},
		Model: Model{
			Variable: "ANTHROPIC_MODEL", File: Place{"CLAUDE_CONFIG_DIR", ".claude", "settings.json"}, Member: "model", Standard: "claude-opus-5-5",
			Short: map[string]string{
				"default": "claude-opus-5-5", "best": "claude-opus-5-5", "opus": "claude-opus-5-5", "opusplan": "claude-opus-5-5",
				"sonnet": "claude-sonnet-5-5", "haiku": "claude-haiku-5-5", "fable": "claude-fable-5",
			},
		},
		// The same in its versions from 2.1.197 to 2.1.325.
		Windows: Windows{
			Small: []string{"claude-sonnet-4", "claude-opus-4-6"}, Tokens: 200_000,
			Million: "[1m]", Beta: "context-1m-", Fixed: 42_000,
		},
		// 45,000 in its first versions. Without its compaction it ends with "Prompt is too
		// long", and sends nothing, from 23,000 tokens before the end on.
		Own: Own{Before: 33_000, Off: true, Stops: 23_000},
		Addresses: Addresses{
			Variables: []string{"ANTHROPIC_BASE_URL"}, Files: []Place{{"CLAUDE_CONFIG_DIR", ".claude", "settings.json"}},
			Members: []string{"ANTHROPIC_BASE_URL"},
		},
		Server: Server{
			Files: []Place{{"CLAUDE_CONFIG_DIR", "", ".claude.json"}}, After: "claude mcp list shows it",
			Add: "mcp add -s user winnow -- COMMAND", Remove: "mcp remove -s user winnow",
		},
	},
	{
		Name: "codex", Program: "codex", Title: "Codex", Checked: "0.166.0",
		Pointed:    "-c openai_base_url",
		Window:     "95 % of the input that it allows its model, 258,400 tokens for most",
		Compaction: "forestalled: the gateway compacts before Codex does",
		Settings:   `codex -c openai_base_url='"GATEWAY/v1"'`,
		Sessions: Sessions{
			Format: "codex", Folders: []Place{{"CODEX_HOME", ".codex", "sessions"}, {"CODEX_HOME", ".codex", "archived_sessions"}},
			Endings: []string{".jsonl"}, Resume: "codex resume ID",
		},
		Requests: Requests{
			UserAgents: []string{"codex"}, Originators: []string{"codex"},
			Summary: []string{"you are performing a context checkpoint compaction"},
		},
		Model:   Model{File: Place{"CODEX_HOME", ".codex", "config.toml"}, Member: "model"},
		Windows: Windows{Input: 272_000, Percent: 95, Fixed: 12_000},
		Own:     Own{Share: 0.90 / 0.95}, // 90 % of the input, of which its window is 95 %
		Addresses: Addresses{
			Variables: []string{"OPENAI_BASE_URL"}, Files: []Place{{"CODEX_HOME", ".codex", "config.toml"}},
			Members: []string{"openai_base_url", "base_url"},
		},
		Server: Server{Files: []Place{{"CODEX_HOME", ".codex", "config.toml"}}, After: "codex mcp list shows it"},
	},
	{
		Name: "pi", Program: "pi", Title: "pi", Checked: "0.87.1",
		Pointed:    "baseUrl of its providers, by an extension (-e)",
		Window:     "its model's",
		Compaction: "forestalled: pi goes by what providers report, and compacts 16,384 tokens before the end of the window",
		Settings:   "~/.pi/agent/models.json: {\"providers\": {\"anthropic\": {\"baseUrl\": \"GATEWAY\"}, \"openai\": {\"baseUrl\": \"GATEWAY/v1\"}}}",
		Sessions: Sessions{
			Format: "pi", Folders: []Place{{"PI_CODING_AGENT_DIR", ".pi/agent", "sessions"}}, Endings: []string{".jsonl"},
			Resume: "pi --session FILE",
		},
		Requests: Requests{Summary: []string{
			"create a structured context checkpoint summary", "new conversation messages to incorporate into the existing summary",
			"this is the prefix of a turn that was too large to keep", "create a concise checkpoint of the user's request and the progress shown above",
		}},
		Own: Own{Before: 16_384},
		Addresses: Addresses{
			Files: []Place{{"PI_CODING_AGENT_DIR", ".pi/agent", "models.json"}}, Members: []string{"baseUrl"},
		},
		Server: Server{
			Files: []Place{{"PI_CODING_AGENT_DIR", ".pi/agent", "mcp.json"}},
			After: "pi mcp list shows it; pi before 0.99 has no MCP, but its shell can run winnow recall HANDLE",
		},
	},
	{
		Name: "opencode", Program: "opencode", Title: "opencode", Checked: "1.18.33",
		Pointed:    "baseURL of its providers, by OPENCODE_CONFIG_CONTENT",
		Window:     "its model's",
		Compaction: "switched off by OPENCODE_DISABLE_AUTOCOMPACT and OPENCODE_DISABLE_PRUNE",
		Settings:   "opencode.json: {\"provider\": {\"anthropic\": {\"options\": {\"baseURL\": \"GATEWAY/v1\"}}}, \"compaction\": {\"auto\": false, \"prune\": false}}",
		Sessions: Sessions{
			Format: "opencode", Folders: []Place{{"XDG_DATA_HOME", ".local/share", "opencode/opencode.db"}},
		},
		Requests: Requests{
			UserAgents: []string{"opencode/"},
			Summary:    []string{"create a new anchored summary from the conversation history", "update the anchored summary below using the conversation", "provide a detailed prompt for continuing our conversation"},
		},
		Own: Own{Before: 32_000, Off: true}, // its largest answer
		Addresses: Addresses{
			Files: []Place{{"XDG_CONFIG_HOME", ".config", "opencode/opencode.json"}}, Members: []string{"baseURL"},
		},
		Server: Server{
			Files: []Place{{"XDG_CONFIG_HOME", ".config", "opencode/opencode.jsonc"}, {"XDG_CONFIG_HOME", ".config", "opencode/opencode.json"}},
			After: "opencode mcp list shows it", Add: "mcp add winnow -- COMMAND",
		},
	},
	{
		Name: "gemini", Program: "gemini", Title: "Gemini CLI", Aliases: []string{"gemini-cli"}, Checked: "0.61.0",
		Pointed:    "GOOGLE_GEMINI_BASE_URL, with a Google account CODE_ASSIST_ENDPOINT",
		Window:     "its model's",
		Compaction: "forestalled: the gateway compacts before Gemini CLI does, unless its settings switch that off",
		Settings:   "GOOGLE_GEMINI_BASE_URL=GATEWAY CODE_ASSIST_ENDPOINT=GATEWAY gemini\n~/.gemini/settings.json: {\"model\": {\"compressionThreshold\": 1}}",
		Sessions: Sessions{
			Format: "gemini-cli", Folders: []Place{{"", ".gemini", "tmp"}}, Parent: "chats", Endings: []string{".json", ".jsonl"},
		},
		Requests: Requests{
			UserAgents: []string{"geminicli"},
			Summary:    []string{"generate the <state_snapshot>"}, // and that of Qwen Code, which was made from it
		},
		Own:       Own{Share: 0.5},
		Addresses: Addresses{Variables: []string{"GOOGLE_GEMINI_BASE_URL", "CODE_ASSIST_ENDPOINT"}},
		Server: Server{
			Files: []Place{{"", ".gemini", "settings.json"}},
			After: "gemini mcp list shows it in a folder that Gemini CLI trusts; elsewhere it starts no server",
			Add:   "mcp add -s user winnow COMMAND", Remove: "mcp remove -s user winnow",
		},
	},
	{
		Name: "qwen", Program: "qwen", Title: "Qwen Code", Aliases: []string{"qwen-code"}, Checked: "0.24.4",
		Pointed:    "OPENAI_BASE_URL",
		Window:     "its model's",
		Compaction: "raised to the whole window, by system defaults, unless its settings say otherwise",
		Settings:   "OPENAI_BASE_URL=GATEWAY/v1 qwen\n~/.qwen/settings.json: {\"model\": {\"chatCompression\": {\"contextPercentageThreshold\": 1}}}",
		Requests:   Requests{UserAgents: []string{"qwencode/"}},
		Own:        Own{Share: 0.7, Off: true},
		Server: Server{
			Files: []Place{{"", ".qwen", "settings.json"}}, After: "qwen mcp list shows it",
			Add: "mcp add -s user winnow COMMAND", Remove: "mcp remove -s user winnow",
		},
	},
	{
		Name: "continue", Program: "cn", Title: "Continue", Checked: "1.5.47",
		Pointed:    "apiBase of the models, in a copy of its config file",
		Window:     "its model's",
		Compaction: "put out of reach: contextLength is raised in the copy, since cn counts its own history",
		Settings:   "config.yaml, for each model: apiBase: GATEWAY/v1/\nand below it defaultCompletionOptions: {contextLength: 100000000}",
		Requests:   Requests{Summary: []string{"please provide a concise summary of our conversation so far, capturing the key context"}},
		Own:        Own{Share: 0.8, Off: true},
		Server:     Server{Files: []Place{{"", ".continue", "config.yaml"}}},
	},
	{
		Name: "cline", Program: "cline", Title: "Cline", Checked: "3.0.65",
		Pointed:    "baseUrl of its providers, in a copy of its provider settings",
		Window:     "its model's",
		Compaction: "switched off by --compaction off",
		Settings:   "cline auth -p openai-native -k KEY -m MODEL -b GATEWAY/v1\ncline --compaction off",
		Requests:   Requests{Summary: []string{"your urgent task is to create a comprehensive detailed summary"}},
		Own:        Own{Off: true},
		Server: Server{Files: []Place{
			{"XDG_CONFIG_HOME", ".config", "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"},
			{"", "Library/Application Support", "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json"}, // macOS
			{"", ".cline", "data/settings/cline_mcp_settings.json"},
		}},
	},
	{
		Name: "kilo", Program: "kilo", Title: "Kilo", Aliases: []string{"kilocode"}, Checked: "7.7.7",
		Pointed:    "baseURL of its providers, by KILO_CONFIG_CONTENT",
		Window:     "its model's",
		Compaction: "switched off by KILO_DISABLE_AUTOCOMPACT and KILO_DISABLE_PRUNE",
		Settings:   "kilo.json: {\"provider\": {\"anthropic\": {\"options\": {\"baseURL\": \"GATEWAY/v1\"}}}, \"compaction\": {\"auto\": false, \"prune\": false}}",
		Own:        Own{Before: 32_000, Off: true},
		Server: Server{
			Files: []Place{{"XDG_CONFIG_HOME", ".config", "kilo/kilo.jsonc"}, {"XDG_CONFIG_HOME", ".config", "kilo/kilo.json"}},
			After: "kilo mcp list shows it", Add: "mcp add winnow -- COMMAND",
		},
	},
	{
		Name: "copilot", Program: "copilot", Title: "Copilot CLI", Checked: "1.0.102",
		Pointed:    "COPILOT_PROVIDER_BASE_URL, with a provider of your own",
		Window:     "its model's",
		Compaction: "put out of reach by COPILOT_PROVIDER_MAX_PROMPT_TOKENS, unless that is set",
		Settings:   "COPILOT_PROVIDER_TYPE=anthropic COPILOT_PROVIDER_BASE_URL=GATEWAY COPILOT_PROVIDER_API_KEY=KEY COPILOT_MODEL=claude-opus-4-5 copilot\nCOPILOT_PROVIDER_TYPE=openai COPILOT_PROVIDER_BASE_URL=GATEWAY/v1 COPILOT_PROVIDER_API_KEY=KEY COPILOT_MODEL=gpt-4.1 copilot",
		Requests:   Requests{Summary: []string{"please create a detailed summary of the conversation so far. the history is being compacted"}},
		Model:      Model{Variable: "COPILOT_MODEL"},
		Own:        Own{Share: 0.8, Off: true},
		Addresses:  Addresses{Variables: []string{"COPILOT_PROVIDER_BASE_URL"}},
	},
	{
		Name: "dsh", Program: "dsh", Title: "DeepSeek Harness", Checked: "0.1.0-rc.8",
		Pointed:    "DEEPSEEK_BASE_URL",
		Window:     "its model's",
		Compaction: "forestalled: the gateway compacts before dsh does",
		Settings:   "winnow serve --upstream deepseek=https://api.deepseek.com\nDEEPSEEK_BASE_URL=GATEWAY/deepseek/v1 dsh",
		Requests: Requests{
			UserAgents: []string{"deepseek-harness/"},
			Summary:    []string{"you are now acting as a compaction engine for this ai coding assistant"},
		},
		Own:       Own{Share: 0.8},
		Addresses: Addresses{Variables: []string{"DEEPSEEK_BASE_URL"}},
	},
	{
		Name: "cursor", Program: "cursor", Title: "Cursor", Aliases: []string{"cursor-agent"},
		Refused:  "its own servers send the requests, so the gateway must be reachable from the internet",
		Settings: "winnow serve --listen 0.0.0.0:8484 --keys FILE --tls-cert FILE --tls-key FILE\nCursor settings, Models, Override OpenAI Base URL: https://YOUR-HOST:8484/v1",
		Server:   Server{Files: []Place{{"", ".cursor", "mcp.json"}}},
	},
	{
		Name: "crush", Program: "crush", Title: "Crush",
		Refused:  "it reads the address of a provider only from its config file",
		Settings: "crush.json: {\"providers\": {\"anthropic\": {\"base_url\": \"GATEWAY\"}, \"openai\": {\"base_url\": \"GATEWAY/v1\"}}}",
	},
	{
		Name: "code", Program: "code", Title: "agents in VS Code (Cline, Roo, Kilo, Continue)",
		Refused:  "they run inside the editor, with settings of their own",
		Settings: "winnow serve\nin the agent's provider settings, custom base URL: GATEWAY for Anthropic, GATEWAY/v1 for OpenAI",
	},
}
